from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphghha.errors import ConfigError
from graphghha.plants.base import CaseInfo
from graphghha.windows import PARTS, check_parts, deploy_split, held_out_severities, held_out_zones, paper_split
from graphghha.windows.split import CYCLE

YEAR = 525_600


@given(st.sampled_from([1, 2, 4, 8, 16, 32, 48]), st.integers(1, 400), st.integers(0, 40))
def test_the_paper_split_deals_twenty_blocks_without_overlap(zones, warmup, rotate):
    split = paper_split(YEAR, num_zones=zones, warmup_rows=warmup, rotate=rotate)
    rows = Counter({part: sum(b.stop - b.start for b in split.of(part)) for part in PARTS})
    assert sum(rows.values()) == split.segment_rows == YEAR // zones
    for part, blocks in (("train", 14), ("validation", 3), ("test", 3)):
        assert rows[part] == pytest.approx(split.segment_rows * blocks / 20, abs=20)
    check_parts({part: split.spans(part, "case") for part in PARTS})


@given(st.sampled_from([1, 8, 32]), st.integers(1, 600))
def test_samples_of_two_parts_are_a_window_apart(zones, window):
    split = paper_split(YEAR, num_zones=zones, warmup_rows=window)
    reads = [(b.ends()[0] - window + 1, b.ends()[-1], part) for part in PARTS for b in split.of(part)]
    for (_, last, before), (first, _, after) in zip(sorted(reads), sorted(reads)[1:], strict=False):
        assert first > last and before != after


def test_spans_cover_every_segment():
    split = paper_split(4_000, num_zones=4, warmup_rows=5)
    spans = split.spans("test", "case")
    assert len(spans) == 4 * 3
    assert (spans[3].start, spans[3].stop) == (1_000 + spans[0].start, 1_000 + spans[0].stop)


def test_the_cycle_holds_fourteen_three_and_three_and_never_joins_held_out_blocks():
    assert Counter(CYCLE) == {"train": 14, "validation": 3, "test": 3}
    around = (*CYCLE, CYCLE[0])
    assert all("train" in pair for pair in zip(around, around[1:], strict=False))


def test_a_stride_thins_the_samples():
    block = deploy_split(20 * 100, block_rows=100, warmup_rows=10).of("test")[0]
    assert list(block.ends(30)) == [block.start + 9, block.start + 39, block.start + 69, block.start + 99]


def test_deploy_weeks_are_whole_and_disjoint():
    week = 7 * 1440
    split = deploy_split(YEAR, block_rows=week, warmup_rows=1440)
    blocks = [b for part in PARTS for b in split.of(part)]
    assert all(b.start % week == 0 and b.stop % week == 0 for b in blocks)
    assert sum(b.stop - b.start for b in blocks) == 52 * week
    check_parts({part: split.spans(part, "building") for part in PARTS})


@pytest.mark.parametrize(
    "make",
    [
        lambda: paper_split(YEAR, num_zones=48, warmup_rows=4320),
        lambda: paper_split(YEAR, num_zones=0, warmup_rows=60),
        lambda: paper_split(YEAR, num_zones=1, warmup_rows=0),
        lambda: deploy_split(YEAR, block_rows=0, warmup_rows=1),
        lambda: deploy_split(100, block_rows=60, warmup_rows=1),
        lambda: held_out_zones(("a", "b"), 2, seed=0),
    ],
    ids=["window-longer-than-a-block", "no-zones", "no-window", "no-block", "too-short", "no-zone-left"],
)
def test_impossible_splits_are_refused(make):
    with pytest.raises(ConfigError, match="split"):
        make()


def test_held_out_zones_follow_the_seed_and_keep_their_order():
    zones = tuple(f"zone-{i:02d}" for i in range(12))
    chosen = held_out_zones(zones, 3, seed=4)
    assert chosen == held_out_zones(zones, 3, seed=4) == tuple(sorted(chosen))
    assert len({held_out_zones(zones, 3, seed=s) for s in range(10)}) > 1


def case(name: str, severity: str, family: str = "valve", targets: tuple[str, ...] = ("V",)) -> CaseInfo:
    return CaseInfo(name=name, family=family, attack_class="actuator", targets=targets, severity=severity)


def test_one_severity_is_held_out_where_siblings_remain():
    cases = [case(f"leak_{s}", s) for s in ("20", "50", "80")]
    cases += [case(f"bias_{s}", s, "sensor", ("T",)) for s in ("-2", "+2")] + [case("single", "")]
    catalogue = {c.name: c for c in cases}
    (held,) = held_out_severities(catalogue, seed=1)
    assert held.startswith("leak_")
    assert len({held_out_severities(catalogue, seed=s) for s in range(20)}) == 3
