"""The monitor service with the toy detector, fed by MQTT. Usage: python -m faults.worker STATE ADDRESS ZONES"""

import signal
import sys
from pathlib import Path

from faults.rig import JOURNAL, TOY_RIG
from faults.toy_detector import SITE
from graphghha.monitor import Journal, Monitor
from graphghha.monitor.service import Service
from graphghha.sources import open_source, parse_address


def main(state: Path, address: str, zones: int) -> None:
    detector = TOY_RIG.detector(zones)
    monitor = Monitor(Journal(state / JOURNAL))
    monitor.add(SITE, detector, TOY_RIG.config)
    source = open_source(parse_address(address), site=SITE, points=detector.points, plant=detector.plant)
    service = Service(monitor, {SITE: source}, {}, drain_s=5.0)
    signal.signal(signal.SIGTERM, lambda *_: service.stop())
    service.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
