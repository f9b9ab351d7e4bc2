"""Label rows as a Parquet file, which is empty without attacks. A module of its own, because it needs pyarrow."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graphghha.plants.arrow import pa
from graphghha.plants.fcu.attacks.catalog import node_class
from graphghha.plants.fcu.attacks.labels import LabelRows
from graphghha.plants.fcu.attacks.schedule import Event
from graphghha.plants.fcu.topology import TEMPLATE
from graphghha.plants.telemetry import LABEL_SCHEMA, ParquetSink, coded

_CLASSES = ("actuator", "sensor", "controller")


class LabelsWriter(ParquetSink):
    """A label file of a building, written day by day."""

    def __init__(self, path: Path, events: Sequence[Event], zones: Sequence[str]) -> None:
        super().__init__(path, LABEL_SCHEMA)
        self._zones = list(zones)
        self._cases = list(dict.fromkeys(event.case for event in events))
        self._event_cases = np.array([self._cases.index(event.case) for event in events], np.int64)
        self._node_classes = np.array([_CLASSES.index(node_class(name)) for name in TEMPLATE.names], np.int64)

    def write(self, rows: LabelRows | None) -> None:
        """Append the label rows of a day."""
        if rows is None or not len(rows):
            return
        columns = [
            pa.array(rows.times.astype("datetime64[ms]"), pa.timestamp("ms")).cast(LABEL_SCHEMA.field("time").type),
            coded(rows.zones.astype(np.int16), self._zones),
            coded(rows.nodes.astype(np.int16), TEMPLATE.names),
            coded(self._event_cases[rows.events].astype(np.int16), self._cases),
            coded(self._node_classes[rows.nodes].astype(np.int8), _CLASSES),
            pa.array(rows.active),
            pa.array(rows.observable),
            pa.array(rows.recovering),
        ]
        self.append(pa.Table.from_arrays(columns, schema=LABEL_SCHEMA))
