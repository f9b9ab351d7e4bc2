"""What README and docs show is run: Python sessions as doctests, `graphghha` lines through the command line."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphghha.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_sessions_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted or page != PAGES[0], "the README shows an example"


def commands(page):
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ graphghha "):
                yield shlex.split(line.removeprefix("$ graphghha "), comments=True)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_command_lines_exit_with_zero(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in commands(page):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"graphghha {' '.join(arguments)}\n{result.output}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
