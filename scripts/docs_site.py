"""Hooks of mkdocs (see mkdocs.yml): pages from outside docs/, links to source files, and the API reference.

Documents link to files of the repository as they lie there, so that the links work in an editor and on a code host.
For the site, links to other documents become links between pages, links to a module lead to its page in the API
reference, and links to any other file become its name.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PACKAGE = "src/graphghha"
# file of the repository -> page of the site
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    f"{PACKAGE}/models/default/fcu/README.md": "model-card.md",
}
INSIDE = {page: file for file, page in OUTSIDE.items()}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the decision pages and the API reference to the navigation."""
    assert config.nav is not None
    decisions = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("*.md") if path.name != "README.md")
    config.nav[-1]["Decisions"] += [f"decisions/{name}" for name in decisions]
    packages: dict[str, list[Any]] = {}
    for module in modules():
        name = module.removeprefix("graphghha.")
        packages.setdefault(name.partition(".")[0], []).append({name: reference_page(module)})
    config.nav.append({"API": [{name: pages} if len(pages) > 1 else pages[0] for name, pages in packages.items()]})
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that do not lie in docs/."""
    for file, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text(encoding="utf-8")))
    for module in modules():
        files.append(File.generated(config, reference_page(module), content=f"# `{module}`\n\n::: {module}\n"))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages."""
    here = page.file.src_uri
    folder = dirname(INSIDE.get(here, f"docs/{here}"))

    def link(found: re.Match[str]) -> str:
        image, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        file = normpath(join(folder, target))
        destination = page_of(file)
        if destination is None:
            assert (ROOT / file).exists(), f"{here} links to {file}, which does not exist"
            return text if "`" in text else f"`{text}`"
        return f"{image}[{text}]({relpath(destination, dirname(here) or '.')}{anchor})"

    return LINK.sub(link, markdown)


def page_of(file: str) -> str | None:
    """Return the page that shows this file of the repository, or None."""
    if file in OUTSIDE:
        return OUTSIDE[file]
    if file.startswith("docs/") and (ROOT / file).is_file():
        return file.removeprefix("docs/")
    name = file.removesuffix("/__init__.py").removesuffix(".py").removeprefix("src/").replace("/", ".")
    return reference_page(name) if file.startswith("src/") and name in set(modules()) else None


def modules() -> Iterator[str]:
    """Yield the modules that have a page in the API reference: all but private ones and the command line."""
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in parts) and "cli" not in parts:
            yield ".".join(parts)


def reference_page(module: str) -> str:
    return f"api/{module}.md"
