"""Labelled windows: the quality of their labels, the zones that are kept, and whose node is labelled."""

from datetime import datetime

import numpy as np
import pytest

from graphghha.lab.runs import Run
from graphghha.lab.training.windows import (
    IGNORED,
    INVISIBLE,
    VISIBLE,
    LabelledWindows,
    choose_zones,
    label_quality,
    labelled_windows,
)
from graphghha.models import load_model, shipped_model
from graphghha.plants import CaseSpec, LabelledDay, load_plant

PLANT = load_plant("fcu")


def test_the_quality_of_a_label():
    """Ignored before it is first visible, invisible when it no longer is, and ignored again during recovery."""
    minutes, zones, nodes = 10, 2, 3
    event = np.full((minutes, zones, nodes), -1, np.int16)
    event[2:8, 0, 1] = 0
    observable = np.zeros(event.shape, bool)
    observable[4:6, 0, 1] = True
    recovering = np.zeros((minutes, zones), bool)
    recovering[8:, 0] = True
    day = LabelledDay(
        np.arange(minutes).astype("datetime64[m]"),
        np.zeros((minutes, zones, 2)),
        (event >= 0).astype(np.uint8),
        event,
        observable,
        recovering,
    )
    shown = np.zeros(1, bool)
    quality = label_quality(day, shown)
    assert quality[:, 0, 1].tolist() == [VISIBLE] * 2 + [IGNORED] * 2 + [VISIBLE] * 2 + [INVISIBLE] * 2 + [IGNORED] * 2
    assert (quality[:, 1] == VISIBLE).all() and shown.all()


def test_attacked_zones_go_first_for_half_of_the_places():
    labels = np.zeros((200, 8, 3), np.uint8)
    labels[:, [2, 5], 1] = 1
    quality = np.full(labels.shape, VISIBLE, np.uint8)
    quality[:, 5] = IGNORED
    zone = np.broadcast_to(np.arange(8, dtype=np.float16)[None, :, None, None], (200, 8, 3, 1))
    kept = choose_zones(LabelledWindows(zone, labels, quality), 4, np.random.default_rng(0))
    numbers = kept.features[..., 0, 0].astype(int)  # [200 4]
    assert (np.sort(numbers, axis=1)[:, 1:] != np.sort(numbers, axis=1)[:, :-1]).all(), "no zone twice"
    assert (numbers == 2).any(axis=1).all(), "the clearly attacked zone is always there"
    share = (numbers == 5).any(axis=1).mean()
    assert 0.2 < share < 0.7, "an ignored one is drawn like any other"
    assert (kept.labels.any(axis=2) == np.isin(numbers, (2, 5))).all()


@pytest.mark.parametrize(("canonical", "node"), [(True, "FCU_CVLV"), (False, "FCU_CVLV_DM")])
def test_windows_are_labelled_with_the_canonical_node_or_the_real_one(canonical, node):
    model = load_model(shipped_model("fcu"))
    case = CaseSpec.parse("FCU_Control_CoolingReverse@1,start=2018-07-04T00:00")
    run = Run(seed=0, start=datetime(2018, 7, 1), days=4, zones=1, cases=(case,))
    windows = labelled_windows(PLANT, run, model.preprocessing, stride_min=240, canonical_labels=canonical)
    assert set(np.flatnonzero(windows.labels.any(axis=(0, 1)))) == {PLANT.template.index(node)}
