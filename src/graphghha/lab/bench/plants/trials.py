"""What a detector is trained and judged on: one division of the recordings of a plant."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphghha.exports import read_exports
from graphghha.exports.attack_labels import AttackEvent
from graphghha.exports.plant_toml import plant_toml
from graphghha.exports.proposal import propose_plant
from graphghha.exports.recordings import Recording
from graphghha.exports.topology import open_graph
from graphghha.plants import Plant, parse_plant

HOUR_PER_DAY = 24.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """Recordings under attack."""

    recordings: tuple[Recording, ...]
    events: tuple[AttackEvent, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Recordings to learn from, and recordings to be judged on."""

    dataset: str
    split: str
    plant: Plant
    normal: tuple[Recording, ...]
    draws: tuple[Draw, ...]
    budget_per_day: float
    untouched: tuple[Recording, ...] = ()  # the judged recordings before attacks were written onto them
    labelled: Draw | None = None  # attacks that a method may learn from if it uses labels


def propose(name: str, files: Sequence[Path], graph_file: Path | None = None) -> Plant:
    """Return the plant that `graphghha plant new [--graph]` proposes for files, unchanged."""
    graph = open_graph(graph_file).graph if graph_file else None
    return parse_plant(plant_toml(propose_plant(read_exports(list(files)), name, graph)), name)


def part_of(recording: Recording, start: int, stop: int) -> Recording:
    """Return some rows of a recording."""
    return Recording(recording.name, recording.files, recording.times_ms[start:stop], recording.values[start:stop])
