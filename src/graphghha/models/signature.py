"""Signatures of model directories: ed25519 over the manifest, which holds the SHA-256 of every file.

Hashes show damage, but anyone who may write a directory can recompute them. A signature can only be made with a private
key, which stays away from the machine that monitors. Keys are PEM files, as openssl writes them.
"""

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from graphghha._util.files import atomic_write
from graphghha.errors import CheckpointError, ConfigError, EngineError
from graphghha.models.manifest import MANIFEST, SIGNATURE, read_small_json, verify_manifest

FORMAT = "graphghha-signature/1"
_CONTEXT = b"graphghha model manifest\n"  # so that a signature of something else is never one of a model
MOST_KEY_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that signatures are verified with."""

    id: str  # the first 16 digits of the SHA-256 of the key
    raw: bytes
    where: str

    @classmethod
    def read(cls, path: Path) -> "PublicKey":
        """Read a public key, or raise `ConfigError`."""
        try:
            raw = _crypto().read_public_key(_read_key(path))
        except ValueError as exc:
            raise ConfigError(f"{path}: {exc}; a public key: openssl pkey -in KEY -pubout -out FILE") from exc
        return cls(key_id(raw), raw, str(path))


@dataclass(frozen=True, slots=True)
class TrustedKeys:
    """Whose models are used. Without keys, signatures are not looked at."""

    keys: tuple[PublicKey, ...] = ()
    is_required: bool = False  # refuse a model without a signature

    @classmethod
    def read(cls, paths: Iterable[Path], *, is_required: bool = False) -> "TrustedKeys":
        """Read the keys; raise `ConfigError` if one cannot be used or a signature is required and there is no key."""
        paths = tuple(paths)
        if is_required and not paths:
            raise ConfigError("require_signature needs trusted_keys: the public keys of those who sign models")
        if paths:
            _crypto()
        return cls(tuple(PublicKey.read(path) for path in paths), is_required)

    def verify(self, directory: Path) -> str | None:
        """Return the id of the trusted key that signed a model, None if it is unsigned and need not be signed.

        The manifest itself is verified by `verify_manifest`. Raise `CheckpointError` if the signature is wrong.
        """
        if not self.keys:
            return None
        if not (directory / SIGNATURE).exists():
            if self.is_required:
                raise CheckpointError(f"{directory}: has no signature, and require_signature is set; sign it")
            return None
        stated, signature = read_signature(directory)
        key = next((each for each in self.keys if each.id == stated), None)
        if key is None:
            known = ", ".join(each.id for each in self.keys)
            raise CheckpointError(f"{directory}: is signed with key {stated}, which is not trusted; trusted: {known}")
        if not _crypto().is_valid(key.raw, signature, _CONTEXT + (directory / MANIFEST).read_bytes()):
            raise CheckpointError(f"{directory}: its signature does not fit its manifest; the model was changed")
        return key.id


def sign_model(directory: Path, private_key: Path, password: bytes | None = None) -> str:
    """Verify the hashes of a model directory, sign it, and return the id of the key."""
    verify_manifest(directory)
    message = _CONTEXT + (directory / MANIFEST).read_bytes()
    try:
        raw, signature = _crypto().sign(_read_key(private_key), password, message)
    except ValueError as exc:
        raise ConfigError(f"{private_key}: {exc}; a new one: openssl genpkey -algorithm ed25519 -out FILE") from exc
    identity = key_id(raw)
    body = {"format": FORMAT, "key": identity, "signature": base64.b64encode(signature).decode()}
    try:
        atomic_write(directory / SIGNATURE, json.dumps(body, indent=1) + "\n")
    except OSError as exc:
        raise CheckpointError(f"{directory}: the signature cannot be written: {exc}") from exc
    return identity


def read_signature(directory: Path) -> tuple[str, bytes]:
    """Return the id of the key and the signature that a model directory states."""
    path = directory / SIGNATURE
    body = read_small_json(path)
    try:
        if body["format"] != FORMAT:
            raise ValueError(f"it has format {body['format']!r}, but this version reads {FORMAT!r}")
        signature = base64.b64decode(body["signature"], validate=True)
        if not isinstance(body["key"], str):
            raise ValueError("the key is not named")
    except (KeyError, TypeError, ValueError) as exc:
        raise CheckpointError(f"{path}: cannot be read: {exc}") from exc
    return body["key"], signature


def key_id(raw: bytes) -> str:
    """Return the short name of a public key."""
    return hashlib.sha256(raw).hexdigest()[:16]


def _read_key(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_KEY_BYTES)
    except OSError as exc:
        raise ConfigError(f"{path}: cannot be read: {exc.strerror}") from exc


def _crypto() -> ModuleType:
    """Return the module that makes and verifies signatures."""
    try:
        from graphghha.models import ed25519
    except ImportError as exc:
        raise EngineError("signed models need cryptography; run: pip install 'graphghha[sign]'") from exc
    return ed25519
