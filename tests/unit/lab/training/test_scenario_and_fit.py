"""Schedules are reproducible and leave held-out cases out; fitting learns, resumes and repeats."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from builders import loop_template
from graphghha.errors import ConfigError, DivergedError
from graphghha.lab.runs.case_split import never_seen, split_cases
from graphghha.lab.runs.equivalent_cases import canonical_cases
from graphghha.lab.runs.run import Run, Schedule, attacked_run
from graphghha.lab.training.expectation import fit_expectation
from graphghha.lab.training.fit import FitConfig, best_f1, fit
from graphghha.lab.training.recipe import Recipe, train
from graphghha.lab.training.train import parse_budget
from graphghha.lab.training.validation import Validation
from graphghha.lab.training.windows import CLEAR, HIDDEN, VOID, LabelledWindows, _worth
from graphghha.nn import ADU
from graphghha.plants import LabelledDay, load_plant
from graphghha.windows.expectation import noise_floor
from graphghha.windows.features import RECENT

RUN = Run(seed=5, start=datetime(2018, 3, 1), days=40, zones=6)


def test_a_schedule_is_decided_by_the_seed_and_respects_the_warm_up():
    cases = ("A", "B")
    first, again = (attacked_run(RUN, cases, Schedule()) for _ in range(2))
    assert first == again and first.cases
    assert min(case.start for case in first.cases) >= datetime(2018, 3, 4, 12), (
        "three days of history and a rest come first"
    )
    other = attacked_run(Run(seed=6, start=RUN.start, days=40, zones=6), cases, Schedule())
    assert other.cases != first.cases


@pytest.mark.parametrize("seed", range(5))
def test_held_out_cases_are_in_no_other_part_under_any_name(seed):
    plant = load_plant("fcu")
    split = split_cases(plant, seed)
    held_out = (*split.unseen_severities, *split.unseen_cases)
    assert never_seen(plant, held_out, split.seen) == held_out
    canonical = canonical_cases(plant)
    assert not {canonical[name].attack for name in held_out} & {canonical[name].attack for name in split.seen}
    assert split.unseen_severities and split.unseen_cases
    parts = [set(split.seen), set(split.unseen_severities), set(split.unseen_cases)]
    assert set().union(*parts) == set(plant.cases) and sum(map(len, parts)) == len(plant.cases)
    for name in split.unseen_severities:
        case = plant.cases[plant.cases[name].attack]
        siblings = [plant.cases[other] for other in split.seen]
        assert any(s.family == case.family and s.targets == case.targets for s in siblings), "a sibling is seen"


def test_a_case_that_training_saw_for_another_duration_is_not_called_unseen():
    held_out = ("Temporary_VLVStuck_Cooling_100", "SensorSaturated_FCU_MAT_Low")
    assert never_seen(load_plant("fcu"), held_out, ["FCU_VLVStuck_Cooling_100"]) == ("SensorSaturated_FCU_MAT_Low",)


def windows(count=64, zones=2, seed=0):
    """A task that the graph decides: a valve is attacked when its sensor's first feature is high."""
    rng = np.random.default_rng(seed)
    template = loop_template()
    features = rng.normal(0, 1, (count, zones, template.num_nodes, 3)).astype(np.float16)
    labels = np.zeros(features.shape[:3], np.uint8)
    labels[..., template.index("valve")] = features[..., template.index("temp"), 0] > 0.5
    return LabelledWindows(features, labels, np.full(labels.shape, CLEAR, np.uint8))


def small_adu(seed=0):
    torch.manual_seed(seed)
    return ADU(loop_template(), in_features=3, width=16, heads=2, layers=2)


CONFIG = FitConfig(epochs=4, batch=8, save_every=5, learning_rate=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "bf16", "fp16"])
def test_fitting_learns_what_a_neighbour_tells(dtype):
    losses = []
    fit(small_adu(), windows(256), replace(CONFIG, dtype=dtype), on_step=lambda p: losses.append(p.loss))
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_a_killed_run_goes_on_to_them(tmp_path):
    whole = small_adu()
    fit(whole, windows(), CONFIG)

    class KilledError(Exception):
        pass

    def die_at_17(progress):
        if progress.step == 17:
            raise KilledError

    snapshot = tmp_path / "snapshot.pt"
    with pytest.raises(KilledError):
        fit(small_adu(), windows(), CONFIG, snapshot=snapshot, on_step=die_at_17)
    resumed = small_adu(seed=9)  # what it starts from does not matter: the snapshot does
    steps = []
    fit(resumed, windows(), CONFIG, snapshot=snapshot, on_step=lambda p: steps.append(p.step))
    assert steps[0] == 16, "the last snapshot was taken after step 15"
    for name, tensor in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], tensor), name


@pytest.mark.slow
def test_the_best_weights_on_validation_stay_and_fitting_stops_when_nothing_improves(tmp_path):
    adu, f1, steps = small_adu(), [], []

    def watch(progress):
        steps.append(progress.step)
        f1.append(progress.f1)

    hopeless = windows(64, seed=1)
    hopeless.labels[:] = np.random.default_rng(2).integers(0, 2, hopeless.labels.shape)
    config = replace(CONFIG, epochs=60, patience=3)
    fit(adu, windows(), config, validation=hopeless, snapshot=tmp_path / "s.pt", on_step=watch)
    assert steps[-1] < 60 * 8, "it stopped early"
    assert best_f1(adu, hopeless) == max(value for value in f1 if value == value)


def test_a_loss_that_is_no_number_stops_training_before_a_weight_is_spoilt():
    adu = small_adu()
    with torch.no_grad():
        next(adu.parameters()).fill_(float("nan"))
    others = {name: weight.clone() for name, weight in list(adu.named_parameters())[1:]}
    with pytest.raises(DivergedError, match="not finite at step 1"):
        fit(adu, windows(), CONFIG)
    assert all(torch.equal(weight, others[name]) for name, weight in adu.named_parameters() if name in others)


def test_an_alert_budget_gets_the_days_it_needs():
    few = Validation(attacked_runs=0, normal_runs=1, normal_days=4)
    assert few.judged_days == 1 and few.enough_for(2.0) == few
    assert few.enough_for(0.2).judged_days == 5
    assert Validation().enough_for(0.2) == Validation()
    with pytest.raises(ConfigError, match="first 3 days"):
        Validation(normal_days=3)


def test_the_best_f1_is_that_of_the_best_threshold():
    adu, data = small_adu(), windows(32)
    data.worth[:, 0] = VOID
    found = best_f1(adu, data, batch=5)
    with torch.no_grad():
        x = torch.as_tensor(data.features).flatten(1, 2).float()
        attack = 1 - adu(x, adu.template.replicate(2))[..., 0].reshape(data.labels.shape).numpy()
    truth, score = data.labels[:, 1].ravel() > 0, attack[:, 1].ravel()
    assert found == pytest.approx(max(f1_score(truth, score >= at) for at in np.unique(score)))


def test_what_an_attacked_minute_is_worth():
    """Void before it first shows, clear while it shows, hidden when it hides again; its aftermath is void."""
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
    worth = _worth(day, shown)
    assert worth[:, 0, 1].tolist() == [CLEAR] * 2 + [VOID] * 2 + [CLEAR] * 2 + [HIDDEN] * 2 + [VOID] * 2
    assert (worth[:, 1] == CLEAR).all() and shown.all()


@pytest.mark.slow
def test_the_expectation_learns_a_relation_and_sees_it_broken():
    template = loop_template()
    count, recent = len(template.points), len(RECENT.feature_names)
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, (20_000, count)).astype(np.float32)
    names = list(template.points)
    valve, command = names.index("valve"), names.index("temp_pid")
    values[:, valve] = values[:, command] + rng.normal(0, 0.05, 20_000)
    inputs = np.repeat(values, recent, axis=1)
    floor = noise_floor([0.05] * count, np.ones(count))
    found = fit_expectation(inputs, values, template, floor, seed=0, epochs=6)
    calm = found.residuals(inputs[:500], values[:500])
    stuck = values[:500].copy()
    stuck[:, valve] = 2.0
    broken = found.residuals(np.repeat(stuck, recent, axis=1), stuck)
    assert 0.5 < calm[:, valve].std() < 2
    assert np.abs(broken[:, valve]).mean() > 4


def test_an_impossible_network_is_refused_before_anything_is_simulated(tmp_path):
    with pytest.raises(ConfigError, match="nonsense"):
        train(Recipe(adu={"layer": "nonsense"}), tmp_path, say=pytest.fail, on_step=pytest.fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["1", "0/day", "-1/day", "one/day", "1/hour"])
def test_a_budget_is_a_positive_number_per_day(text):
    assert parse_budget("0.5/day") == 0.5
    with pytest.raises(ConfigError, match="per day"):
        parse_budget(text)
