"""The manifest of a model directory: the SHA-256 of every file, since safetensors would load a flipped bit."""

import hashlib
import json
from pathlib import Path

from graphghha.errors import CheckpointError

MANIFEST = "manifest.json"
FORMAT = "graphghha-model/1"
FORBIDDEN = (".pkl", ".pickle", ".pt", ".pth", ".joblib")


def write_manifest(directory: Path) -> None:
    """Hash all files of a directory and write manifest.json beside them."""
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name != MANIFEST)
    manifest = {"format": FORMAT, "sha256": {path.name: _sha256(path) for path in files}}
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def verify_manifest(directory: Path) -> dict[str, str]:
    """Return the hashes by file name; CheckpointError names a file that is missing, altered or not listed."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        listed: dict[str, str] = dict(manifest["sha256"])
    except OSError as exc:
        raise CheckpointError(
            f"{directory}: is not a model directory: {MANIFEST} cannot be read ({exc.strerror})"
        ) from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise CheckpointError(f"{directory}/{MANIFEST}: cannot be parsed: {exc}") from exc
    if manifest.get("format") != FORMAT:
        raise CheckpointError(
            f"{directory}/{MANIFEST}: has format {manifest.get('format')!r}, but this version reads {FORMAT!r}"
        )
    present = {path.name for path in directory.iterdir()} - {MANIFEST}
    for name in sorted(present):
        if name.lower().endswith(FORBIDDEN):
            raise CheckpointError(f"{directory}/{name}: pickles can run code and are never opened; remove it")
    if unlisted := sorted(present - listed.keys()):
        raise CheckpointError(
            f"{directory}/{unlisted[0]}: is not listed in {MANIFEST}; remove it or restore the directory"
        )
    for name, digest in listed.items():
        if not (directory / name).is_file():
            raise CheckpointError(f"{directory}/{name}: is missing; copy the whole model directory again")
        if _sha256(directory / name) != digest:
            raise CheckpointError(f"{directory}/{name}: does not match its SHA-256 in {MANIFEST}; restore the file")
    return listed


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise CheckpointError(f"{path}: cannot be read ({exc.strerror})") from exc
