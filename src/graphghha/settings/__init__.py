"""Settings files: TOML in, checked and frozen settings out."""

try:
    import pydantic as _pydantic  # noqa: F401
except ImportError as exc:
    from graphghha.errors import EngineError

    raise EngineError("settings files need pydantic; run: pip install 'graphghha[monitor]'") from exc

from graphghha.settings.consistency import trusted_keys
from graphghha.settings.read import find_problems, parse_settings, read_settings
from graphghha.settings.tables import Settings, SiteTable

__all__ = ["Settings", "SiteTable", "find_problems", "parse_settings", "read_settings", "trusted_keys"]
