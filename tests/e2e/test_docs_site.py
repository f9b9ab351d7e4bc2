"""The documentation site builds without a warning and loads nothing from another host."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = re.compile(
    r"<(?:script|img|iframe)[^>]*\ssrc=\"(https?:)?//|<link[^>]*rel=\"stylesheet\"[^>]*href=\"(https?:)?//"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if importlib.util.find_spec("mkdocs") is None:
        if os.environ.get("CI"):
            pytest.fail("mkdocs is missing: in CI no test may skip")
        pytest.skip("needs mkdocs: scripts/environment docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.slow
def test_every_document_has_a_page(site):
    for document in (ROOT / "docs").rglob("*.md"):
        page = document.relative_to(ROOT / "docs").with_suffix(".html")
        page = page.with_name("index.html") if page.stem == "README" else page
        assert (site / page).is_file(), f"{document} has no page"


@pytest.mark.slow
def test_no_page_loads_anything_from_another_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        assert not SOURCES.search(page.read_text(encoding="utf-8")), page
