"""What users of version 0.1.0 rely on: simulated bytes, scores, journals, JSON. The stored files were made by it."""

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.engine.machine import machine
from graphghha.models import load_model, shipped_model

STORED = Path(__file__).parent.parent / "golden" / "0.1.0"
HASHES = json.loads((STORED / "hashes.json").read_text(encoding="utf-8"))
CASES = (
    "FCU_VLVStuck_Cooling_100@1,start=2018-07-02T09:00,for=6h",
    "FCU_SensorBias_RMTemp_+4C@1,start=2018-07-03T10:00,for=5h",
)
# Sentences for people may be reworded; everything a program reads may not.
SENTENCES = ("text", "action", "meaning")
# What events have had in addition since 0.1.0: whoever reads the rest is not concerned.
ADDED_FIELDS, ADDED_EVIDENCE = ("techniques", "alike", "cleared"), ("contradiction",)


def call(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def without_sentences(data):
    if isinstance(data, dict):
        known = {key: value for key, value in data.items() if key not in (*SENTENCES, *ADDED_FIELDS)}
        return {key: without_sentences(value) for key, value in possible(known).items()}
    kept = [each for each in data if not is_added(each)] if isinstance(data, list) else data
    return [without_sentences(each) for each in kept] if isinstance(data, list) else data


def is_added(item):
    return isinstance(item, dict) and item.get("kind") in ADDED_EVIDENCE


def possible(item):
    """Version 0.1.0 expected -1 % of a valve's stroke; what is expected now is something that can be."""
    return item | {"expected": max(0.0, item["expected"])} if item.get("unit") == "fraction" else item


def events(text):
    return [without_sentences(json.loads(line)) for line in text.splitlines()]


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory):
    path = tmp_path_factory.mktemp("compatibility") / "two.parquet"
    cases = [word for case in CASES for word in ("--case", case)]
    call(
        *("simulate", "--zones", 1, "--days", 2, "--start", "2018-07-02", "--seed", 11, "--layout", "wide"),
        *(*cases, "--out", path),
    )
    return path


# Contracted multiply-adds round once: the compiled simulator's last bits depend on whether the processor has them.
same_rounding = pytest.mark.skipif(
    not machine()["features"]["fma"],
    reason="the stored bytes are of a processor with fused multiply-add",
)


@same_rounding
def test_simulated_telemetry_and_labels_have_the_same_bytes(telemetry):
    assert sha256(telemetry) == HASHES["telemetry"]
    assert sha256(telemetry.with_name("two.labels.parquet")) == HASHES["labels"]


@same_rounding
def test_simulated_lbnl_files_have_the_same_bytes(tmp_path):
    call("simulate", "--zones", 1, "--days", 2, "--seed", 4, "--format", "lbnl", "--out", tmp_path / "lbnl")
    assert sha256(tmp_path / "lbnl" / "FCU_FaultFree.csv") == HASHES["lbnl"]


def test_the_shipped_model_is_the_same():
    assert load_model(shipped_model("fcu")).fingerprint == HASHES["model"]


def test_the_shipped_model_scores_the_same(telemetry, tmp_path):
    call("score", "fcu", telemetry, "--out", tmp_path / "scores.parquet")
    table = pq.read_table(tmp_path / "scores.parquet")
    attack = table["attack"].to_numpy().reshape(-1, 32)[::20]
    # processors, and the BLAS kernels chosen for them, round differently
    np.testing.assert_allclose(attack, np.load(STORED / "attack.npy"), rtol=0, atol=1e-4)


def test_a_journal_opens_and_the_monitor_goes_on_where_it_stopped(telemetry, tmp_path):
    """The stored journal ends in the second attack, at 14:00 of the second day."""
    stored = gzip.decompress((STORED / "journal.sqlite.gz").read_bytes())
    (tmp_path / "journal.sqlite").write_bytes(stored)
    expected = events((STORED / "events.jsonl").read_text(encoding="utf-8"))
    listed = events(call("alarms", "list", "--journal", tmp_path / "journal.sqlite", "--json"))
    assert [each["id"] for each in listed] == ["site-20180703T1253-3", "site-20180702T0905-1"]
    seen = events(call("watch", "--source", f"parquet:{telemetry}", "--state", tmp_path, "--model", "fcu", "--json"))
    eras = {each["key"].split(":", 2)[2] for each in seen[14:]}
    assert len(eras) == 1, "events written since 0.1 carry the era of the process that wrote them"
    for each in seen[14:]:
        each["key"] = each["key"].removesuffix(f":{next(iter(eras))}")
    assert seen == expected  # without a cursor of its own the terminal is shown the journal from its first event


def test_a_journal_of_the_former_default_model_goes_on_with_the_present_one(telemetry, tmp_path):
    """No event is lost or written anew, the open incident ends, and it is one incident."""
    (tmp_path / "journal.sqlite").write_bytes(gzip.decompress((STORED / "journal.sqlite.gz").read_bytes()))
    expected = events((STORED / "events.jsonl").read_text(encoding="utf-8"))
    seen = events(call("watch", "--source", f"parquet:{telemetry}", "--state", tmp_path, "--json"))
    assert seen[:14] == expected[:14] and len(seen) > 14
    listed = events(call("alarms", "list", "--journal", tmp_path / "journal.sqlite", "--json"))
    assert [each["id"] for each in listed][-2:] == ["site-20180703T1253-3", "site-20180702T0905-1"]
    assert all(each["state"] != "active" for each in listed)


def test_the_catalogue_is_the_same():
    assert events(call("cases", "--json")) == events((STORED / "cases.jsonl").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_demonstration_reports_the_same_incidents():
    stored = events((STORED / "demo.jsonl").read_text(encoding="utf-8"))
    assert events(call("demo", "--headless", "--minutes", 60, "--json")) == stored
