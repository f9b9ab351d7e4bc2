"""Certificates that must not be trusted, made for a trial: of another authority, expired, for another host."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Files of a certificate and its private key."""

    cert: Path
    key: Path


class Authority:
    """A certificate authority that signs whatever a trial asks for."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.ca = folder, folder / "ca.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"authority {folder.name}")])
        now = datetime.datetime.now(datetime.UTC)
        builder = self._builder(self._name, self._key.public_key(), now - 9 * DAY, now + 9 * DAY)
        certificate = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.ca.write_bytes(certificate.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *, host: str | None = HOST, begins_in: int = -2, days: int = 4) -> KeyPair:
        """Return a certificate for a host (or without any name), valid from some days from now on."""
        key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host or HOST)])
        begin = now + begins_in * DAY
        builder = self._builder(subject, key.public_key(), begin, begin + days * DAY)
        if host is not None:
            is_address = host.replace(".", "").isdigit()
            named = x509.IPAddress(ipaddress.ip_address(host)) if is_address else x509.DNSName(host)
            builder = builder.add_extension(x509.SubjectAlternativeName([named]), critical=False)
        pair = KeyPair(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        pair.cert.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
        return pair

    def _builder(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey,
        begin: datetime.datetime,
        end: datetime.datetime,
    ) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
        return builder.serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end)
