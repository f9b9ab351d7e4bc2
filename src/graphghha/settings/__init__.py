"""Settings files: TOML in, validated and frozen settings out."""

try:
    import pydantic as _pydantic  # noqa: F401
except ImportError as exc:
    from graphghha.errors import EngineError

    raise EngineError("settings files need pydantic; run: pip install 'graphghha[monitor]'") from exc

from graphghha.settings.read import parse_settings, problems_of, read_settings
from graphghha.settings.tables import Settings, SiteTable

__all__ = ["Settings", "SiteTable", "parse_settings", "problems_of", "read_settings"]
