"""How a site is monitored."""

from dataclasses import dataclass, field

from graphghha.errors import ConfigError
from graphghha.monitor.display import Display
from graphghha.monitor.row_clock import RowClockConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteConfig:
    """How a site is monitored. Rows are counted from the first one; scoring starts after `warm_up_rows`."""

    clock: RowClockConfig = field(default_factory=RowClockConfig)
    warm_up_rows: int = 360
    lost_after_ms: int = 300_000  # silence of the whole site
    settle_rows: int = 10  # rows not scored after such a silence: the first ones show the gap rather than the plant
    latching: bool = False
    learn_days: int = 0  # of rows after which the model is adapted to the site; 0: never
    display: Display = field(default_factory=Display)  # how times and readings are written in sentences

    def __post_init__(self) -> None:
        for name in ("warm_up_rows", "settle_rows"):
            if getattr(self, name) < 0:
                raise ConfigError(f"site.{name} {getattr(self, name)} must not be negative")
        if self.lost_after_ms < self.clock.step_ms:
            raise ConfigError(
                f"site.lost_after_ms {self.lost_after_ms} must be at least one step ({self.clock.step_ms})"
            )
