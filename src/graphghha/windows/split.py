"""Which rows train, validate and test: by blocks of time with gaps, by zone and by case, as plain index ranges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

import numpy as np

from graphghha.errors import ConfigError
from graphghha.plants.base import CaseInfo
from graphghha.windows.provenance import Span

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

# Twenty blocks, 14 train, 3 validation, 3 test, the held-out ones spread over the year and never side by side
# (t train, v validation, e test).
CYCLE: tuple[Part, ...] = tuple({"t": PARTS[0], "v": PARTS[1], "e": PARTS[2]}[c] for c in "ttvttetttvttettvttet")
NUM_BLOCKS = len(CYCLE)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows start <= row < stop; samples end at rows first <= row < stop and never look before start."""

    start: int
    first: int
    stop: int

    def ends(self, stride: int = 1) -> range:
        return range(self.first, self.stop, stride)


@dataclass(frozen=True, slots=True)
class TimeSplit:
    """Blocks of offsets into each of `num_segments` equal segments that lie one after the other."""

    segment_rows: int
    num_segments: int
    blocks: tuple[tuple[Part, Block], ...]  # in time order; neighbours belong to different parts

    def of(self, part: Part) -> tuple[Block, ...]:
        return tuple(block for owner, block in self.blocks if owner == part)

    def spans(self, part: Part, source: str) -> tuple[Span, ...]:
        """Every row of a source that samples of this part may read, segment by segment."""
        starts = range(0, self.segment_rows * self.num_segments, self.segment_rows)
        return tuple(Span(source, at + b.start, at + b.stop) for at in starts for b in self.of(part))


def paper_split(num_rows: int, *, num_zones: int, warmup_rows: int, rotate: int = 0) -> TimeSplit:
    """The paper's protocol: one case's year in `num_zones` segments, each in twenty blocks dealt 14/3/3.

    A sample is all segments at one offset, so the blocks are blocks of offsets. `warmup_rows` is the history a
    sample has at least; give the window's length for full gaps. `rotate` deals the cycle from another start.
    """
    if num_zones < 1:
        raise ConfigError(f"paper split: {num_zones} zones; ask for at least one")
    segment_rows = num_rows // num_zones
    edges = [segment_rows * i // NUM_BLOCKS for i in range(NUM_BLOCKS + 1)]
    return _deal(edges, segment_rows, num_zones, warmup_rows, rotate, "paper split")


def deploy_split(num_rows: int, *, block_rows: int, warmup_rows: int, rotate: int = 0) -> TimeSplit:
    """The deploy protocol: whole blocks of clock time (a week of rows, say), dealt by the same cycle."""
    if block_rows < 1:
        raise ConfigError(f"deploy split: block_rows {block_rows} must be at least 1")
    # a broken last block would be a week that is no week: it goes unused
    edges = list(range(0, num_rows + 1, block_rows))
    return _deal(edges, num_rows, 1, warmup_rows, rotate, "deploy split")


def _deal(
    edges: Sequence[int], segment_rows: int, num_segments: int, warmup_rows: int, rotate: int, where: str
) -> TimeSplit:
    if warmup_rows < 1:
        raise ConfigError(f"{where}: warmup_rows {warmup_rows} must be at least 1, the sample's own row")
    owners = [CYCLE[(i + rotate) % NUM_BLOCKS] for i in range(len(edges) - 1)]
    blocks = tuple(
        (part, Block(start, start + warmup_rows - 1, stop))
        for part, start, stop in _runs(owners, edges)
        if stop - start >= warmup_rows
    )
    split = TimeSplit(segment_rows, num_segments, blocks)
    for part in PARTS:
        if not split.of(part):
            raise ConfigError(
                f"{where}: no {part} block of {segment_rows} rows holds a window of {warmup_rows}; "
                "take more rows, fewer zones or a shorter window"
            )
    return split


def _runs(owners: Sequence[Part], edges: Sequence[int]) -> Iterator[tuple[Part, int, int]]:
    """Neighbouring blocks of one part are one block: no gap is owed between them."""
    for part, group in groupby(range(len(owners)), key=lambda i: owners[i]):
        members = list(group)
        yield part, edges[members[0]], edges[members[-1] + 1]


def held_out_zones(zones: Sequence[str], count: int, seed: int) -> tuple[str, ...]:
    """Zones that training never sees, in their own order."""
    if not 0 <= count < len(zones):
        raise ConfigError(f"split: cannot hold out {count} of {len(zones)} zones; leave at least one to train on")
    chosen = np.random.default_rng(seed).choice(len(zones), count, replace=False)
    return tuple(zones[i] for i in sorted(chosen.tolist()))


def held_out_severities(cases: Mapping[str, CaseInfo], seed: int) -> tuple[str, ...]:
    """One case of each attack that the catalogue holds in three severities or more: training sees its siblings.

    A case with look-alikes is not chosen: training would see it all the same, on another node.
    """
    rng = np.random.default_rng(seed)
    siblings: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(cases):
        case = cases[name]
        if case.severity:
            siblings.setdefault((case.family, case.attack_class, *case.targets), []).append(name)
    groups = [names for _, names in sorted(siblings.items()) if len(names) >= 3]
    plain = [[name for name in names if not cases[name].equivalent] for names in groups]
    return tuple(sorted(names[rng.integers(len(names))] for names in plain if names))
