"""A model directory is verified whole before anything of it is used."""

import contextlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphghha.alarms import GroupRule
from graphghha.errors import CheckpointError, NotFoundError
from graphghha.models import Thresholds, check_destination, load_model, save_model, shipped_model, write_manifest
from graphghha.nn import LAYERS
from model_builders import small_model


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture
def directory(model, tmp_path):
    save_model(model, tmp_path / "model")
    return tmp_path / "model"


def test_saved_equals_loaded(model, directory):
    loaded = load_model(directory)
    assert loaded.template == model.template and loaded.scaler == model.scaler
    assert loaded.adu_config == json.loads(json.dumps(model.adu_config))
    for name, array in model.weights.items():
        assert loaded.weights[name].tobytes() == array.tobytes()
    assert loaded.norm.scale.tobytes() == model.norm.scale.tobytes()
    assert loaded.expectation.floor.tobytes() == model.expectation.floor.tobytes()


def test_saving_over_a_model_replaces_it_whole(model, directory):
    save_model(model, directory)
    assert load_model(directory).plant == model.plant
    assert [path.name for path in directory.parent.iterdir()] == ["model"], "nothing half-written is left beside it"


@pytest.mark.parametrize("name", ["model.safetensors", "expectation.safetensors", "scaler.json", "README.md"])
def test_one_flipped_bit_is_refused(directory, name):
    data = bytearray((directory / name).read_bytes())
    data[len(data) // 2] ^= 1
    (directory / name).write_bytes(data)
    with pytest.raises(CheckpointError, match=f"{name}: does not match its SHA-256"):
        load_model(directory)


def test_a_missing_file_an_added_file_and_a_pickle_are_refused(directory):
    (directory / "notes.txt").write_text("hello")
    with pytest.raises(CheckpointError, match=r"notes.txt: is not listed"):
        load_model(directory)
    (directory / "notes.txt").rename(directory / "weights.pt")
    with pytest.raises(CheckpointError, match="pickles can run code"):
        load_model(directory)
    (directory / "weights.pt").unlink()
    (directory / "model.onnx").mkdir()
    with pytest.raises(CheckpointError, match=r"model.onnx: is not listed"):
        load_model(directory)
    (directory / "model.onnx").rmdir()
    (directory / "thresholds.json").unlink()
    with pytest.raises(CheckpointError, match=r"thresholds.json: is missing"):
        load_model(directory)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="is not a model directory"):
        load_model(tmp_path)


def rewrite(directory, name, change):
    """Alter a file and its hash: what an insider could do."""
    from graphghha.models import write_manifest

    path = directory / name
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    write_manifest(directory)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": 1_000_000}, "1000000 layers, but there are weights of"),
        ({"width": 1_000_000}, "but the config needs floats"),
        ({"heads": None}, "heads must be a positive whole number, got None"),
        ({"heads": 7}, "is not a multiple of 7 heads"),
        ({"mlp_ratio": "x"}, "mlp_ratio must be a positive number, got 'x'"),
        ({"mlp_ratio": 1e6}, "but the config needs floats"),
        ({"in_features": 3}, "but the config needs floats"),
        ({"layer": "vanilla_gat"}, "do not belong to this network|are missing"),
    ],
)
def test_weights_of_another_network_are_refused_before_it_is_built(directory, change, message):
    rewrite(directory, "config.json", lambda data: {**data, "adu": {**data["adu"], **change}})
    with pytest.raises(CheckpointError, match=message):
        load_model(directory)


@pytest.mark.parametrize("file", ["model", "expectation", "known_answer"])
def test_arrays_that_are_missing_or_of_another_shape_are_refused(directory, file):
    from safetensors.numpy import load_file, save_file

    from graphghha.models import write_manifest

    path = directory / f"{file}.safetensors"
    whole = load_file(path)
    for name in whole:
        for broken in (
            {other: array for other, array in whole.items() if other != name},
            {**whole, name: np.zeros((2, 2), np.float32)},
        ):
            save_file(broken, path)
            write_manifest(directory)
            with pytest.raises(CheckpointError):
                load_model(directory)


def test_every_layer_saves_what_the_check_expects():
    for layer in LAYERS:
        assert small_model(layer=layer).adu_config["layer"] == layer


def test_parts_that_do_not_fit_each_other_are_refused_even_with_right_hashes(directory):
    rewrite(directory, "config.json", lambda data: {**data, "template_hash": "0" * 64})
    with pytest.raises(CheckpointError, match="not the template these weights were made for"):
        load_model(directory)


def test_a_norm_of_another_shape_is_refused(directory):
    rewrite(directory, "features.json", lambda data: {**data, "center": data["center"][:-1]})
    with pytest.raises(CheckpointError, match="feature norm: shape"):
        load_model(directory)


def test_weights_that_are_not_finite_are_refused(model, tmp_path):
    from dataclasses import replace

    name = next(iter(model.weights))
    broken = {**model.weights, name: np.full_like(model.weights[name], np.nan)}
    with pytest.raises(CheckpointError, match="not finite"):
        replace(model, weights=broken)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("features.json", lambda d: {**d, "scale": np.zeros_like(d["scale"]).tolist()}, "scales finite and above 0"),
        (
            "thresholds.json",
            lambda d: {k: v for k, v in d.items() if k != "rule"},
            "thresholds: the field 'rule' is missing",
        ),
    ],
)
def test_settings_that_could_not_score_are_refused_at_once(directory, name, change, reason):
    rewrite(directory, name, change)
    with pytest.raises(CheckpointError, match=reason):
        load_model(directory)


def test_a_network_for_onnxruntime_stays_with_its_model(directory):
    from graphghha.models import write_manifest

    (directory / "model.onnx").write_bytes(b"a network")
    write_manifest(directory)
    save_model(load_model(directory), directory)
    assert load_model(directory).network_file.read_bytes() == b"a network"


def test_a_model_never_replaces_what_is_not_a_model(model, directory):
    for suffix in (".old", ".partial"):
        (directory.with_name("model" + suffix) / "mine").mkdir(parents=True)
    save_model(model, directory)
    assert sorted(path.name for path in directory.parent.iterdir()) == ["model", "model.old", "model.partial"]
    with pytest.raises(CheckpointError, match=r"model\.old: is not empty and holds no model"):
        save_model(model, directory.with_name("model.old"))
    file = directory.with_name("file")
    file.write_text("mine")
    for place in (file, file / "model"):
        with pytest.raises(CheckpointError, match="a model cannot be written there"):
            save_model(model, place)
    assert directory.with_name("model.old").joinpath("mine").is_dir() and file.read_text() == "mine"


def test_a_model_is_written_where_its_link_points_and_may_be_read_by_others(model, directory, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(directory)
    save_model(replace(model, card="# by the link"), link)
    assert link.is_symlink() and load_model(directory).card == "# by the link"
    modes = {path.stat().st_mode & 0o777 for path in directory.iterdir()}
    assert len(modes) == 1, "weights as readable as the rest"


def test_a_fingerprint_is_of_what_decides_alarms(model):
    assert replace(model, card="# other words").fingerprint == model.fingerprint
    assert replace(model, thresholds=Thresholds(group=GroupRule(linger=99))).fingerprint != model.fingerprint


def test_an_unknown_plant_has_no_shipped_model():
    with pytest.raises(NotFoundError, match="no model is shipped for plant 'zeppelin'"):
        shipped_model("zeppelin")


def test_a_model_is_loaded_by_its_path_as_text_or_by_the_name_of_a_shipped_one(directory, monkeypatch):
    assert load_model(str(directory)).fingerprint == load_model(directory).fingerprint
    assert load_model("fcu").fingerprint == load_model(shipped_model("fcu")).fingerprint
    monkeypatch.chdir(directory.parent)
    directory.rename("fcu")
    assert load_model("fcu").fingerprint != load_model(shipped_model("fcu")).fingerprint  # a directory comes first
    with pytest.raises(CheckpointError, match="nosuch: is not a model directory"):
        load_model("nosuch")


def test_the_model_of_a_plant_of_ones_own_is_named(directory):
    (directory / "plant.toml").write_text("")
    write_manifest(directory)
    with pytest.raises(CheckpointError, match="load_own_model"):
        load_model(directory)


def test_a_file_of_gigabytes_is_refused_unread(directory):
    with (directory / "notes.bin").open("wb") as file:
        os.truncate(file.fileno(), 6 << 30)  # takes no room on the disk
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["sha256"]["notes.bin"] = "0" * 64
    (directory / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match="notes.bin: has 6442450944 bytes"):
        load_model(directory)


@pytest.mark.parametrize("name", ["../model/config.json", "/etc/passwd", "", ".."])
def test_a_manifest_names_files_of_its_own_folder_only(directory, name):
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["sha256"][name] = "0" * 64
    (directory / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match="is not the name of a file in it|is missing"):
        load_model(directory)


@pytest.fixture(scope="module")
def stored(model, tmp_path_factory):
    directory = tmp_path_factory.mktemp("stored") / "model"
    save_model(model, directory)
    return directory


JSON_FILES = ["config", "scaler", "features", "calibration", "thresholds", "template", "manifest"]
NUMBERS = st.sampled_from(
    [0, -1, 2**63, 10**400, 1e308, float("inf"), float("nan"), True, None, "1", [], {}, [[]], 0.5]
)


def places(data, path=()):
    """Every place in a JSON value, as the keys that lead to it."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data[:3]) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(JSON_FILES), st.integers(0, 10_000), NUMBERS)
@example("thresholds", -1, "[" * 100_000)  # nested too deeply
@example("manifest", -1, "[" * 100_000)
@example("template", -1, "[" * 100_000)
@example("manifest", 0, [])
@example("scaler", 0, 10**400)
@example("template", 0, 0.5)
def test_a_consistent_forgery_of_any_number_is_loaded_or_refused(stored, file, place, value):
    """The manifest is recomputed: what an insider could do."""
    with TemporaryDirectory() as folder:
        directory = Path(shutil.copytree(stored, Path(folder) / "model"))
        path = directory / f"{file}.json"
        if place < 0:
            path.write_text(value)
        else:
            data = json.loads(path.read_text())
            *way, last = sorted(places({"": data}), key=str)[place % len(list(places({"": data})))] or ("",)
            inner = whole = {"": data}
            for key in way:
                inner = inner[key]
            inner[last] = value
            path.write_text(json.dumps(whole[""]))
        if file != "manifest":
            write_manifest(directory)
        with contextlib.suppress(CheckpointError):
            load_model(directory)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["model", "expectation", "known_answer"]), st.integers(0, 600), st.binary(min_size=1, max_size=9)
)
@example("model", 0, b"\xff" * 8)  # a header of 2^64 bytes
@example("model", 0, b"\x00" * 8)
def test_any_bytes_in_the_arrays_are_loaded_or_refused(stored, file, at, content):
    with TemporaryDirectory() as folder:
        directory = Path(shutil.copytree(stored, Path(folder) / "model"))
        path = directory / f"{file}.safetensors"
        data = bytearray(path.read_bytes())
        data[at : at + len(content)] = content
        path.write_bytes(data)
        write_manifest(directory)
        with contextlib.suppress(CheckpointError):
            load_model(directory)


def test_a_destination_is_checked_without_making_its_folders(model, tmp_path):
    """The work between the check and the writing may fail; it then leaves nothing behind."""
    deep = tmp_path / "new" / "deep" / "model"
    assert check_destination(deep) == deep.resolve() and not (tmp_path / "new").exists()
    save_model(model, deep)
    assert load_model(deep).fingerprint == model.fingerprint
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="is a file, not a folder"):
        check_destination(tmp_path / "file" / "model")
