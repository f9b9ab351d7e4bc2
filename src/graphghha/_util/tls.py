"""What every network connection needs: certificates for TLS, and secrets from files."""

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Tls:
    """Which servers are trusted, and the certificate we present. Servers are always verified; nothing disables that."""

    ca_file: Path | None = None  # the system's authorities if None
    cert_file: Path | None = None
    key_file: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Return a context for a client; raise `OSError` if a certificate cannot be used."""
        context = ssl.create_default_context(cafile=self.ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


def read_secret(path: Path) -> str:
    """Return the secret in a file, without the line end that editors add."""
    return path.read_text(encoding="utf-8").rstrip("\r\n")
