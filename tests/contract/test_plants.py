"""One suite over every plant: what the rest of the package expects of a plant, whatever it is."""

import re
import subprocess
import sys
from datetime import datetime, timedelta

import numpy as np
import pytest

from graphghha.classes import CLASSES
from graphghha.errors import NotFoundError
from graphghha.plants import (
    NO_EVENT,
    CaseSpec,
    Points,
    known_plants,
    load_plant,
    load_rules,
    load_simulator,
    load_testbed,
)
from graphghha.plants.rules import HISTORY_MIN
from graphghha.plants.telemetry import TelemetryFile, labels_path, read_labels
from graphghha.plants.units import canonical, conversion, inner

START = datetime(2018, 7, 2)
ONSET_MIN, LAST_MIN = 600, 1200


def has(load, name):
    try:
        load(name)
    except NotFoundError:
        return False
    return True


WITH_TESTBED = [name for name in known_plants() if has(load_testbed, name)]
WITH_SIMULATOR = [name for name in known_plants() if has(load_simulator, name)]
WITH_RULES = [name for name in known_plants() if load_rules(name)]
every_plant = pytest.mark.parametrize("plant", [load_plant(name) for name in known_plants()], ids=known_plants())


def first_case(plant):
    """The first case of the catalogue, in the second of two zones."""
    name = next(iter(plant.cases))
    duration = timedelta(minutes=LAST_MIN - ONSET_MIN)
    return CaseSpec(name=name, zone="2", start=START + timedelta(minutes=ONSET_MIN), duration=duration)


@pytest.mark.parametrize("name", known_plants())
def test_it_is_loaded_by_the_name_it_has_and_without_what_is_heavy(name):
    code = (
        f"import sys; from graphghha.plants import load_plant; assert load_plant({name!r}).name == {name!r}; "
        "assert not {'numba', 'pyarrow', 'torch', 'pydantic'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@every_plant
def test_its_template_is_one_zone_in_which_every_signal_has_one_node(plant):
    assert set(plant.template.zones) == {None}
    measured = plant.template.point_signals
    assert sorted(measured) == sorted(signal.name for signal in plant.signals)
    assert len(set(measured)) == len(measured)
    assert not any("/" in name for name in plant.template.names), "a slash separates zone and node"


@every_plant
def test_every_node_has_a_neighbor(plant):
    assert set(plant.template.edge_index.ravel().tolist()) == set(range(plant.template.num_nodes))


@every_plant
def test_its_signals_have_inner_units_and_possible_limits_and_noise(plant):
    for signal in plant.signals:
        assert signal.meaning, signal.name
        assert signal.unit == inner(signal.unit) == canonical(signal.unit), signal.name
        assert np.isfinite([signal.low, signal.high, signal.noise]).all(), signal.name
        assert signal.low < signal.high, signal.name
        assert 0 <= signal.noise < (signal.high - signal.low) / 10, signal.name
        if signal.states:
            assert len(signal.states) == signal.high - signal.low + 1, signal.name
            assert signal.noise == 0, signal.name


@every_plant
def test_its_points_have_limits_in_every_zone(plant):
    points = Points.from_names(plant, plant.template.replicate(2).points)
    assert len(points) == 2 * len(plant.signals)
    assert (points.low < points.high).all()


@every_plant
def test_a_day_is_a_whole_number_of_its_steps(plant):
    assert plant.step_s > 0 and 86_400 % plant.step_s == 0


@every_plant
def test_its_cases_name_nodes_of_the_template_and_the_class_of_the_first(plant):
    template = plant.template
    for name, case in plant.cases.items():
        assert name == case.name and case.family and case.meaning, name
        assert case.attack_class in CLASSES[1:], name
        assert case.targets and set(case.targets) <= set(template.names), name
        assert case.attack_class == str(template.nodes[template.index(case.targets[0])].kind), name
        assert set(case.equivalent) <= set(template.names) - set(case.targets), name
        if case.same_as:
            assert plant.cases[case.same_as].targets == case.targets, name
            assert not plant.cases[case.same_as].same_as, name


@every_plant
def test_its_advice_is_about_its_own_nodes(plant):
    assert set(plant.advice) <= set(plant.template.roles)
    for role in plant.template.roles:
        advice = plant.advise(role)
        assert advice.name and advice.action.endswith("."), role
        assert advice.priority in ("low", "medium", "high"), role
        assert all(re.fullmatch(r"T\d{4}(\.\d{3})?", technique) for technique in advice.techniques), role


@every_plant
def test_its_published_files_are_written_in_units_of_its_signals(plant):
    for dialect in plant.dialects:
        time = datetime(2018, 12, 31, 23, 59)
        assert datetime.strptime(time.strftime(dialect.time_format), dialect.time_format) == time
        for name, unit in dialect.units.items():
            _, scale = conversion(unit, plant.signal(name).unit)
            assert scale > 0, name


@every_plant
def test_its_showcase_is_a_day_on_which_known_cases_begin_while_somebody_watches(plant):
    if plant.showcase is None:
        pytest.skip("this plant has no showcase")
    showcase = plant.showcase
    begin, end = showcase.day + timedelta(minutes=showcase.begin_min), showcase.day + timedelta(days=1)
    assert showcase.day.time() == datetime.min.time()
    assert showcase.cases
    for case in showcase.cases:
        assert case.name in plant.cases
        assert begin <= case.start < end
    # a testbed refuses cases and zones it does not have before it simulates anything
    load_testbed(plant.name).run(zones=showcase.zones, days=1, start=showcase.day, seed=0, cases=showcase.cases)


@pytest.fixture(scope="module", params=WITH_TESTBED)
def attacked(request):
    """A plant, and one day of two zones in which the second is attacked."""
    plant = load_plant(request.param)
    cases = [first_case(plant)] if plant.cases else []
    (day,) = load_testbed(plant.name).run(zones=2, days=1, start=START, seed=3, cases=cases)
    return plant, day


def test_a_day_of_its_testbed_has_one_row_per_step(attacked):
    plant, day = attacked
    rows, signals, nodes = round(86_400 / plant.step_s), len(plant.signals), plant.template.num_nodes
    np.testing.assert_array_equal(np.diff(day.times), np.timedelta64(round(plant.step_s), "s"))
    assert day.times[0] == np.datetime64(START)
    assert day.values.shape == (rows, 2, signals)
    assert day.attack_class.shape == day.event.shape == day.observable.shape == (rows, 2, nodes)
    assert day.recovering.shape == (rows, 2)


def test_readings_of_its_testbed_are_possible_for_the_signals_of_the_template(attacked):
    plant, day = attacked
    assert np.isfinite(day.values).all()
    points = Points.from_names(plant, plant.template.replicate(2).points)
    values = day.values.reshape(len(day.times), -1).astype(np.float64)
    assert not points.impossible(slice(None), values).any()


def test_the_labels_of_its_testbed_are_on_the_targets_from_onset_to_end(attacked):
    plant, day = attacked
    if not plant.cases:
        pytest.skip("this plant has no attack catalogue")
    case = plant.cases[first_case(plant).name]
    minute = (day.times - day.times[0]) // np.timedelta64(1, "m")
    expected = np.zeros(day.attack_class.shape, np.bool_)
    for target in case.targets:
        expected[(minute >= ONSET_MIN) & (minute < LAST_MIN), 1, plant.template.index(target)] = True
    np.testing.assert_array_equal(day.attack_class != 0, expected)
    np.testing.assert_array_equal(day.event != NO_EVENT, expected)
    assert set(day.event[expected].tolist()) == {0}
    assert not (day.observable & ~expected).any()
    kinds = {str(plant.template.nodes[plant.template.index(target)].kind) for target in case.targets}
    assert {CLASSES[code] for code in np.unique(day.attack_class[expected])} == kinds


@pytest.mark.parametrize("name", WITH_TESTBED)
def test_the_same_arguments_give_its_testbed_the_same_bytes_and_another_seed_does_not(name):
    testbed = load_testbed(name)
    first, again, other = (next(testbed.run(zones=1, days=1, start=START, seed=seed)).values for seed in (5, 5, 6))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize("name", WITH_TESTBED)
@pytest.mark.parametrize("text", ["NoSuchCase@1,start=2018-07-02T10:00", "{case}@3,start=2018-07-02T10:00"])
def test_its_testbed_refuses_a_case_or_zone_it_does_not_have_at_once(name, text):
    case = CaseSpec.parse(text.format(case=next(iter(load_plant(name).cases), "X")))
    with pytest.raises(NotFoundError, match=case.name):
        load_testbed(name).run(zones=2, days=1, start=START, seed=0, cases=[case])


@pytest.mark.parametrize("name", WITH_RULES)
def test_its_rules_are_about_its_nodes_and_read_its_signals_only(name):
    plant, rules = load_plant(name), load_rules(name)
    assert len({rule.name for rule in rules}) == len(rules)
    (day,) = load_testbed(name).run(zones=2, days=1, start=START, seed=3)
    measured = plant.template.point_signals
    readings = {signal: day.values[: HISTORY_MIN + 90, :, at] for at, signal in enumerate(measured)}
    for rule in rules:
        assert rule.node in plant.template.names, rule.name
        assert rule.meaning, rule.name
        ratio = rule.ratio(readings)
        assert ratio.shape == (90, 2) and np.isfinite(ratio).all(), rule.name


@pytest.mark.parametrize("layout", ["long", "wide"])
@pytest.mark.parametrize("name", WITH_SIMULATOR)
def test_files_of_its_simulator_are_telemetry_of_this_plant_with_labels_beside(name, layout, tmp_path):
    plant, path = load_plant(name), tmp_path / "run.parquet"
    cases = [first_case(plant)] if plant.cases else []
    summary = load_simulator(name)(zones=2, days=1, start=START, seed=3, cases=cases, layout=layout, out=path)
    assert summary["files"] == [str(path), str(labels_path(path))]
    file = TelemetryFile(path)
    assert (file.meta.plant, file.meta.template_hash) == (name, plant.template.content_hash)
    assert (file.meta.step_s, file.meta.layout) == (plant.step_s, layout)
    assert [CaseSpec.parse(text) for text in file.meta.cases] == cases
    units = dict(zip(file.meta.points, file.meta.units, strict=True))
    assert units == {signal.name: signal.unit for signal in plant.signals}
    rows = round(86_400 / plant.step_s)
    assert [chunk.values.shape for chunk in file.chunks()] == [(2, rows, len(plant.signals))]
    labels = read_labels(path)
    assert set(labels["case"].to_pylist()) == {case.name for case in cases}
    assert set(labels["node"].to_pylist()) <= set(plant.template.names)


def test_a_wrong_name_gets_a_hint_and_the_names_there_are():
    name = known_plants()[0]
    with pytest.raises(NotFoundError, match=f"did you mean '{name}'"):
        load_plant(name + name[-1])
    for load in (load_plant, load_simulator, load_testbed, load_rules):
        with pytest.raises(NotFoundError, match=f"known plants: .*{name}"):
            load("no such plant at all")
