"""Ed25519 by the package cryptography, as far as models need it. Importing this fails where the package is missing."""

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)


def read_public_key(pem: bytes) -> bytes:
    """Return the 32 bytes of a public key in PEM form, or raise `ValueError`."""
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("is not a public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("is not an ed25519 key")
    return _raw(key)


def sign(pem: bytes, password: bytes | None, message: bytes) -> tuple[bytes, bytes]:
    """Return the 32 bytes of the public key and the signature; `ValueError` if the private key cannot be used."""
    try:
        key = load_pem_private_key(pem, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("is not a private key in PEM form, or its password is missing or wrong") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("is not an ed25519 key")
    return _raw(key.public_key()), key.sign(message)


def is_valid(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether the holder of the private key signed the message."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _raw(key: Ed25519PublicKey) -> bytes:
    return bytes(key.public_bytes(Encoding.Raw, PublicFormat.Raw))
