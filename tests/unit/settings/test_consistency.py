"""Tables that contradict each other, and parts that do not fit together."""

import shutil
import socket

import pytest

from graphghha.models import shipped_model
from graphghha.settings import find_problems, read_settings
from settings_builders import SITE, problems


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (SITE, "site[1].name: 'north' is taken by site[0]; choose another name"),
        ("[[site]]\nname='monitor'\nsource='sim:fcu'\n", "site[1].name: 'monitor' is reserved for the monitor's own"),
        ("[[site]]\nname='b'\nzones=1\nsource='kafka:x'\n", "site[1].source: source 'kafka:x': not an address"),
        ("[[site]]\nname='b'\nsource='csv'\n", "site[1].source: source 'csv': not an address"),
        ("[[site]]\nname='b'\nsource='mqtt://b/p'\n", "site[1].zones: missing; this source does not state its number"),
        (
            "[[sink]]\nkind='mqtt'\nname='s'\naddress='mqtt://broker'\nprefix='plant/alarms'\n",
            "sink[0].prefix: site[0] reads 'plant/#', which includes 'plant/alarms'; choose a prefix outside",
        ),
        (
            "[[sink]]\nkind='mqtt'\nname='s'\naddress='mqtt://broker'\nclient_id='graphghha-north'\n",
            "sink[0].client_id: 'graphghha-north' is taken by site[0] on the same broker",
        ),
        (
            "[[sink]]\nkind='mqtt'\nname='s'\naddress='http://broker'\n",
            "sink[0]: address 'http://broker': write mqtt://HOST[:PORT] or mqtts://HOST[:PORT]",
        ),
        ("[[sink]]\nkind='syslog'\nname='s'\naddress='tls://siem:99999'\n", "sink[0]: address 'tls://siem:99999'"),
        ("[[sink]]\nkind='mqtt'\nname='s'\naddress='mqtt://b'\nprefix='a/#'\n", "sink[0].prefix: must match"),
        (
            "[[sink]]\nkind='syslog'\nname='s'\naddress='tcp://siem'\nca_file='/etc/passwd'\n",
            "sink[0]: certificates need TLS; write tls://",
        ),
        ("[[sink]]\nname='s'\n", "sink[0]: missing kind; give it kind = jsonl | mqtt | syslog"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(write, more, problem):
    (reported,) = problems(write(SITE + more))
    assert reported.startswith(problem)


def test_another_broker_may_carry_the_same_topics(write):
    path = write(SITE + "[[sink]]\nkind='mqtt'\nname='s'\naddress='mqtt://other'\nprefix='plant/alarms'\n")
    assert read_settings(path).sink[0].config().port == 1883


def test_the_check_looks_into_models_and_mappings(write, tmp_path):
    shutil.copytree(shipped_model("fcu"), tmp_path / "model")
    path = write(SITE + 'model = "model"\nmapping = "map.toml"\n')
    (tmp_path / "map.toml").write_text("")
    assert find_problems(path) == []
    (tmp_path / "map.toml").write_text('[[map]]\ntopic = "a"\npoint = "zone-01/FCU_CVLX"\n')
    (problem,) = find_problems(path)
    assert problem.startswith(f"{path}: site[0].mapping: ") and "did you mean 'zone-01/FCU_CVLV'?" in problem
    (tmp_path / "model" / "scaler.json").write_text("{}")
    assert f"{path}: site[0].model: " in find_problems(path)[0]


def test_the_check_looks_into_certificates(write, tmp_path):
    (tmp_path / "ca.pem").write_text("not a certificate")
    path = write(SITE + "[[sink]]\nkind='syslog'\nname='s'\naddress='tls://siem'\nca_file='ca.pem'\n")
    assert find_problems(path)[0].startswith(f"{path}: sink[0]: its certificates cannot be used")


def test_the_check_reports_what_would_fail_at_the_start(write):
    path = write(
        SITE.replace("mqtt://broker/plant", "csv:nowhere.csv")
        + SITE.replace("north", "south")
        + 'lost_after_s = 5.0\n[[sink]]\nname = "s"\nkind = "jsonl"\npath = "missing/events.jsonl"\n'
    )
    assert [line.removeprefix(f"{path}: ") for line in find_problems(path)] == [
        f"site[0].source: there is no file {path.parent / 'nowhere.csv'}",
        "site[1].lost_after_s: 5 s is less than the 60 s between two readings",
        f"sink[0].path: there is no folder {path.parent / 'missing'}",
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sim:fcu?zone=1", "unknown option 'zone'; did you mean 'zones'?"),
        ("sim:fcu?zones=2&days=1&case=FCU_OABlockag@1,start=2018-07-02T09:00", "FCU_OABlockage"),
        ("csv:day.csv?sped=60", "unknown option 'sped'; did you mean 'speed'?"),
    ],
    ids=["option", "case", "option-of-a-file"],
)
def test_the_check_reports_a_mistake_in_the_address_of_a_recording(write, source, message):
    path = write(SITE.replace("mqtt://broker/plant", source))
    (path.parent / "day.csv").write_text("time,zone-01/RM_TEMP\n2018-07-02T00:00,21.0\n")
    (problem,) = find_problems(path)
    assert problem.startswith(f"{path}: site[0].source: ") and message in problem


def test_zones_that_disagree_with_the_source_are_an_error(write):
    path = write(SITE.replace("mqtt://broker/plant", "sim:fcu?zones=1&days=1"))
    (problem,) = find_problems(path)
    assert problem == (
        f"{path}: site[0].zones: 2 zones are asked for, and the source has 1 zone; leave it out, or write 1"
    )


def test_everything_is_found_in_one_round(write):
    """Mistakes of the tables, contradictions between them, and parts that cannot be used, with the file's numbers."""
    path = write(
        """
        monitor = {state_dir = "/proc/nope", keep_dayz = 3}
        [[site]]
        source = "mqtt://broker/plant"
        [[site]]
        name = "a"
        source = "sim:fcu?zones=2"
        plant = "fcuu"
        [[site]]
        name = "a"
        source = "csv:nowhere.csv"
        zones = 1
        lost_after_s = -3
        """
    )
    problems = [line.removeprefix(f"{path}: ") for line in find_problems(path)]
    assert [each.partition(":")[0] for each in problems] == [
        "monitor.keep_dayz",
        "site[0].name",
        "site[0].zones",
        "site[2].lost_after_s",
        "site[2].name",
        "site[1].plant",
        "site[2].source",
        "monitor.state_dir",
    ]


def test_sites_without_their_number_of_zones_hide_no_other_mistake(write):
    path = write(
        """
        monitor = {state_dir = "/proc/nope"}
        [[site]]
        name = "a"
        source = "mqtt://broker/plant"
        plant = "fcuu"
        [[site]]
        name = "a"
        source = "mqtt://broker/plant"
        """
    )
    problems = [line.removeprefix(f"{path}: ") for line in find_problems(path)]
    assert [each.partition(":")[0] for each in problems] == [
        "site[0].zones",
        "site[1].zones",
        "site[1].name",
        "site[0].plant",
        "monitor.state_dir",
    ]


def test_a_file_in_place_of_the_state_folder_and_a_taken_port_are_reported(write):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = write(f"{SITE}\n[health]\nport = {port}\n")
        assert any(f"health.port: {port} cannot be opened" in each for each in find_problems(path))
    (path.parent / "graphghha-state").write_text("not a folder")
    assert any("is a file, not a folder" in each for each in find_problems(path))
