"""The monitor service with the toy detector, fed by MQTT.

Usage: python -m faults.worker STATE ADDRESS ZONES [STEP_MS LATENESS_MS]
"""

import signal
import sys
from pathlib import Path

from faults.rig import JOURNAL, TOY_RIG
from faults.toy_detector import SITE
from graphghha.monitor import Journal, Monitor, RowClockConfig, SiteConfig
from graphghha.monitor.service import Service
from graphghha.sources import open_source, parse_address


def main(state: Path, address: str, zones: int, config: SiteConfig = TOY_RIG.config) -> None:
    detector = TOY_RIG.detector(zones)
    monitor = Monitor(Journal(state / JOURNAL, is_patient=True))
    monitor.add(SITE, detector, config)
    source = open_source(parse_address(address), site=SITE, points=detector.points, plant=detector.plant)
    service = Service(monitor, {SITE: source}, {}, drain_s=5.0)
    signal.signal(signal.SIGTERM, lambda *_: service.stop())
    service.run()


def scaled_config(step_ms: int, lateness_ms: int) -> SiteConfig:
    """Return the settings of a plant whose rows are `step_ms` apart instead of a minute."""
    clock = RowClockConfig(step_ms=step_ms, lateness_ms=lateness_ms, stale_after_ms=5 * step_ms)
    return SiteConfig(clock=clock, warm_up_rows=0, lost_after_ms=5 * step_ms)


if __name__ == "__main__":
    scale = [int(word) for word in sys.argv[4:]]
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), scaled_config(*scale) if scale else TOY_RIG.config)
