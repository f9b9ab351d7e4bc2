"""How the web process is set up, as a value that can be handed to another process."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graphghha.errors import ConfigError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEFAULT_PORT = 8420
ACCESS_FILE = "access.sqlite"  # in the folder of the journal
STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, kw_only=True, slots=True)
class WebConfig:
    """Where the web process listens, who may use it, and what it reads."""

    journal: Path
    access: Path  # people, tokens and sessions
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    hosts: tuple[str, ...] = ()  # further names under which it is reached
    cert_file: Path | None = None
    key_file: Path | None = None
    behind_proxy: bool = False  # a proxy on this machine ends TLS
    models: Mapping[str, Path] = field(default_factory=dict)  # model directories by site
    own_models: Mapping[str, Path] = field(default_factory=dict)  # folders of commissioned models, by site
    static: Path = STATIC
    session_hours: float = 8.0
    requests_per_s: float = 50.0  # of one address, on average
    most_streams: int = 100
    can_start_over: bool = False  # the program that runs the monitor begins a simulated site anew when asked
    time_zones: Mapping[str, str] = field(default_factory=dict)  # by site

    def __post_init__(self) -> None:
        if (self.cert_file is None) != (self.key_file is None):
            raise ConfigError("web: cert_file and key_file belong together; give both or neither")
        if not self.is_loopback and not self.is_tls and not self.behind_proxy:
            raise ConfigError(
                f"web.bind {self.host}: an address that others can reach needs TLS (cert_file and key_file), or "
                "behind_proxy = true if a proxy in front of it ends TLS"
            )

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine can connect."""
        return self.host in LOOPBACK

    @property
    def is_tls(self) -> bool:
        return self.cert_file is not None

    @property
    def is_secure(self) -> bool:
        """Return whether browsers reach it by https."""
        return self.is_tls or self.behind_proxy

    def model_in_use(self, site: str, model: str) -> Path | None:
        """Return the directory of the model that a monitor names as `directory@hash`; None if it is not at hand."""
        name, _, digest = model.partition("@")
        own = self.own_models.get(site)
        candidates = [self.models[site]] if site in self.models else []
        candidates += [own / name] if own is not None else []
        for directory in candidates:
            manifest = directory / "manifest.json"
            is_there = directory.name == name and manifest.is_file()
            if is_there and hashlib.sha256(manifest.read_bytes()).hexdigest().startswith(digest):
                return directory
        return None

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Return the names that requests may give as their host, in lower case and without the port."""
        own = LOOPBACK if self.is_loopback else (self.host,)
        return frozenset(name.lower() for name in (*own, *self.hosts))
