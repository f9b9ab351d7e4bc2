"""The manifest of a model directory: the SHA-256 of every file, since safetensors would load a flipped bit."""

import hashlib
import json
from pathlib import Path
from typing import Any

from graphghha.errors import CheckpointError

MANIFEST = "manifest.json"
SIGNATURE = "signature.json"  # of the manifest, so it is not listed in it
MOST_JSON_BYTES = 64 << 20
MOST_FILE_BYTES = 1 << 30  # a larger file is not read at all
MOST_FILES = 1_000
FORMAT = "graphghha-model/1"
FORBIDDEN = (".pkl", ".pickle", ".pt", ".pth", ".joblib")


def write_manifest(directory: Path) -> None:
    """Hash all files of a directory and write manifest.json beside them."""
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name not in (MANIFEST, SIGNATURE))
    manifest = {"format": FORMAT, "sha256": {path.name: _sha256(path) for path in files}}
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def verify_manifest(directory: Path) -> dict[str, str]:
    """Return the hashes by file name; CheckpointError names a file that is missing, altered or not listed."""
    manifest = read_small_json(directory / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise CheckpointError(
            f"{directory}/{MANIFEST}: has format {manifest.get('format')!r}, but this version reads {FORMAT!r}"
        )
    listed = manifest.get("sha256")
    if not isinstance(listed, dict) or not all(isinstance(digest, str) for digest in listed.values()):
        raise CheckpointError(f"{directory}/{MANIFEST}: cannot be parsed: sha256 must be a table of hashes")
    if odd := [name for name in listed if Path(name).name != name]:
        raise CheckpointError(f"{directory}/{MANIFEST}: lists {odd[0]!r}, which is not the name of a file in it")
    present = {path.name for path in directory.iterdir()} - {MANIFEST, SIGNATURE}
    if len(present) > MOST_FILES:
        raise CheckpointError(f"{directory}: holds {len(present)} files; a model has at most {MOST_FILES}")
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


def fingerprint(directory: Path) -> str:
    """Return a hash of a model directory as it is: that of its manifest."""
    return _sha256(directory / MANIFEST)


def read_small_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a model directory, or raise `CheckpointError`."""
    try:
        if not path.is_file() and path.exists():
            raise CheckpointError(f"{path}: is not a file")
        with path.open("rb") as file:
            content = file.read(MOST_JSON_BYTES + 1)
    except OSError as exc:
        raise CheckpointError(
            f"{path.parent}: is not a model directory: {path.name} cannot be read ({exc.strerror})"
        ) from exc
    if len(content) > MOST_JSON_BYTES:
        raise CheckpointError(f"{path}: has more than {MOST_JSON_BYTES} bytes")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise CheckpointError(f"{path}: cannot be parsed: {exc}") from exc
    if not isinstance(data, dict):
        raise CheckpointError(f"{path}: cannot be parsed: not a JSON object")
    return data


def _sha256(path: Path) -> str:
    try:
        if (size := path.stat().st_size) > MOST_FILE_BYTES:
            raise CheckpointError(f"{path}: has {size} bytes; a file of a model has at most {MOST_FILE_BYTES}")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise CheckpointError(f"{path}: cannot be read ({exc.strerror})") from exc
