"""What the documents show is run and what they name exists.

Python sessions run as doctests and `graphghha` lines through the command line; links, paths and names are looked up.
"""

import doctest
import inspect
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.cli.bench import bench

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "graphghha"
README, ARCHITECTURE = ROOT / "README.md", ROOT / "docs" / "architecture.md"
FRONT = [README, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
PAGES = [*FRONT, *sorted((ROOT / "docs").rglob("*.md"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


@every_page
def test_python_sessions_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted or page != README, "the README shows an example"


def commands(page):
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ graphghha "):
                yield shlex.split(line.removeprefix("$ graphghha "), comments=True)


@every_page
def test_command_lines_exit_with_zero(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in commands(page):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"graphghha {' '.join(arguments)}\n{result.output}"


@every_page
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@every_page
def test_source_files_named_in_the_text_exist(page):
    for name in re.findall(r"`([\w./-]+/[\w.-]+\.py)`", page.read_text(encoding="utf-8")):
        assert "NAME" in name or any((folder / name).is_file() for folder in (ROOT, PACKAGE, PACKAGE.parent)), name


def resolved(name):
    """Return what a dotted name below graphghha stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(f"graphghha.{'.'.join(parts[:count])}")
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise LookupError(name)


def defining_file(name):
    """Return the file in which a class or function is written, relative to the repository."""
    return str(Path(inspect.getsourcefile(resolved(name))).relative_to(ROOT))


def test_names_on_the_architecture_page_exist_where_they_link_to():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    packages = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py")}
    names = [name for name in re.findall(r"`(\w+(?:\.\w+)+)`", text) if name.partition(".")[0] in packages]
    assert len(names) > 40 and all(resolved(name) is not None for name in names)
    links = re.findall(r"\[`(\w+(?:\.\w+)+)`\]\(\.\./([^)]+)\)", text)
    assert [(name, file) for name, file in links if defining_file(name) != file] == []


def test_every_benchmark_is_on_the_page_of_benchmarks():
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert [name for name in bench.commands if f"graphghha bench {name}" not in text] == []


def test_every_package_is_on_the_architecture_page():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    packages = [path.relative_to(ROOT) for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE]
    linked = [path for path in packages if re.search(rf"\(\.\./{path.parent}/\w+\.py\)", text)]
    assert len(packages) > 30 and linked == packages


@pytest.mark.parametrize("page", FRONT, ids=lambda page: page.name)
def test_lines_fit_an_editor(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 100 and (page == README or not line.startswith("|"))] == []
