"""Transport security as every sink that speaks over a network wants it."""

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Tls:
    """Whom to trust, and who we are. Certificates are always verified: there is no switch to turn that off."""

    ca_file: Path | None = None  # the system's authorities when None
    cert_file: Path | None = None
    key_file: Path | None = None

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context
