from pathlib import Path

import pytest

from docs_tables import PAGES, filled, write_pages

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_of_the_docs_are_current(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert filled(text, PAGES[page]) == text, "run: python scripts/docs_tables.py docs"


def test_a_stale_page_is_brought_up_to_date(tmp_path):
    for page, names in PAGES.items():
        path = tmp_path / page
        path.parent.mkdir(exist_ok=True)
        blocks = "\n".join(f"<!-- begin {name} -->\nstale words\n<!-- end {name} -->" for name in names)
        path.write_text(f"# Title\n{blocks}\nend\n", encoding="utf-8")
    write_pages(tmp_path)
    text = (tmp_path / "attacks.md").read_text(encoding="utf-8")
    assert "FCU_FilterRestriction_10%" in text
    assert "stale words" not in text
    assert text.endswith("<!-- end cases -->\nend\n")
