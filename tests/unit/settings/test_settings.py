"""Settings files: what is wrong is said at the place where it stands, and secrets are said nowhere."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.errors import ConfigError
from graphghha.settings import find_problems, read_settings

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "graphghha.toml"
SITE = '[[site]]\nname = "north"\nsource = "mqtt://broker/plant"\nzones = 2\n'


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "live.toml"
        path.write_text(text)
        return path

    return written


def problems(path):
    with pytest.raises(ConfigError) as caught:
        read_settings(path)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]


def test_the_example_is_sound_and_shows_every_kind_of_sink():
    assert find_problems(EXAMPLE) == []
    settings = read_settings(EXAMPLE)
    assert {sink.kind for sink in settings.sink} == {"jsonl", "mqtt", "syslog"}
    assert [site.zones for site in settings.site] == [12, 2]


def test_every_problem_is_listed_with_its_place_and_what_instead(write):
    path = write(
        "[monitr]\n[monitor]\nkeep_day = 3\n[[site]]\nname = 'a b'\nsorce = 'x'\nzones = 0\n"
        "model = 'nowhere'\n[[sink]]\nkind = 'kafka'\n[[sink]]\nkind = 'syslog'\nname = 's'\nadress = 'x'\n"
    )
    found = problems(path)
    assert "monitr: unknown setting; did you mean 'monitor'?" in found
    assert "monitor.keep_day: unknown setting; did you mean 'keep_days'?" in found
    assert "site[0].sorce: unknown setting; did you mean 'source'?" in found
    assert "site[0].source: missing; it has no default" in found
    assert "site[0].zones: input should be greater than or equal to 1" in found
    assert f"site[0].model: there is no folder {path.parent / 'nowhere'}" in found
    assert "sink[0]: unknown kind; use jsonl | mqtt | syslog" in found
    assert "sink[1].adress: unknown setting; did you mean 'address'?" in found
    assert any(line.startswith("site[0].name: must match") for line in found)


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
    found = problems(write(SITE + more))
    assert len(found) == 1 and found[0].startswith(problem)


@pytest.mark.parametrize("table", ["", "[monitor]\n", "[monitor]\nstate_dir = 'graphghha-state'\n"])
def test_paths_count_from_the_folder_of_the_file_even_those_nobody_wrote(write, tmp_path, table):
    assert read_settings(write(table + SITE)).monitor.state_dir == tmp_path / "graphghha-state"


def test_another_broker_may_carry_the_same_topics(write):
    path = write(SITE + "[[sink]]\nkind='mqtt'\nname='s'\naddress='mqtt://other'\nprefix='plant/alarms'\n")
    assert read_settings(path).sink[0].config().port == 1883


def test_secrets_come_from_files_and_are_told_nowhere(write, tmp_path):
    (tmp_path / "secret").write_text("open sesame\n")
    path = write(SITE + "username = 'me'\npassword_file = 'secret'\n")
    settings = read_settings(path)
    assert settings.secret_files() == (tmp_path / "secret",) and "sesame" not in repr(settings)
    source = settings.site[0].source_config
    assert (source.username, source.password_file) == ("me", tmp_path / "secret")
    for line in ('password = "open sesame"', 'source = "mqtt://me:open sesame@broker/x"'):
        text = "\n".join(problems(write(f'[[site]]\nname = "north"\nzones = 1\n{line}\n')))
        assert "sesame" not in text and "password_file" in text


def test_an_empty_or_missing_secret_is_a_problem(write, tmp_path):
    (tmp_path / "secret").write_text("\n")
    assert "is empty; write the secret into it" in problems(write(SITE + "username='me'\npassword_file='secret'\n"))[0]
    assert "there is no file" in problems(write(SITE + "username='me'\npassword_file='none'\n"))[0]


def test_the_check_looks_into_models_and_mappings(write, tmp_path):
    from graphghha.models.shipped import shipped_model

    shutil.copytree(shipped_model("fcu"), tmp_path / "model")
    path = write(SITE + 'model = "model"\nmapping = "map.toml"\n')
    (tmp_path / "map.toml").write_text("")
    assert find_problems(path) == []
    (tmp_path / "map.toml").write_text('[[map]]\ntopic = "a"\npoint = "zone-01/FCU_CVLX"\n')
    (found,) = find_problems(path)
    assert found.startswith(f"{path}: site[0].mapping: ") and "did you mean 'zone-01/FCU_CVLV'?" in found
    (tmp_path / "model" / "scaler.json").write_text("{}")
    assert f"{path}: site[0].model: " in find_problems(path)[0]


def test_the_check_looks_into_certificates(write, tmp_path):
    (tmp_path / "ca.pem").write_text("not a certificate")
    path = write(SITE + "[[sink]]\nkind='syslog'\nname='s'\naddress='tls://siem'\nca_file='ca.pem'\n")
    assert find_problems(path)[0].startswith(f"{path}: sink[0]: its certificates cannot be used")


def test_not_toml_and_not_there(write, tmp_path):
    assert "not TOML" in problems(write("[monitor"))[0]
    assert "cannot be read" in problems(tmp_path / "none.toml")[0]


def test_the_command_lists_problems_and_ends_with_two(write):
    path = write("[monitr]\n" + SITE)
    result = CliRunner().invoke(main, ["config", "check", str(path)])
    assert result.exit_code == 2 and "monitr: unknown setting" in result.stdout and "1 problem" in result.stderr
    result = CliRunner().invoke(main, ["config", "check", str(EXAMPLE), "--json"])
    assert result.exit_code == 0 and json.loads(result.stdout) == {"sound": True, "problems": []}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            SITE.replace("/plant", "/plant?password=hunter2"),
            "site[0].source: source 'mqtt://broker/plant?password=***': an address",
        ),
        (
            SITE.replace("broker", "ada:hunter2@broker"),
            "site[0].source: source 'mqtt://***@broker/plant': an address",
        ),
        (
            SITE + '[[sink]]\nname = "s"\nkind = "mqtt"\naddress = "mqtt://broker?password=hunter2"\n',
            "sink[0]: address 'mqtt://broker': write mqtt://HOST[:PORT]",
        ),
        (
            SITE + 'client_id = "c"\n' + SITE.replace("north", "south") + 'client_id = "c"\n',
            "site[1].client_id: 'c' is taken by site[0]",
        ),
        (
            SITE.replace("mqtt://broker/plant", "-") + SITE.replace("north", "s").replace("mqtt://broker/plant", "-"),
            "site[1].source: site[0] reads standard input already",
        ),
        (SITE.replace("mqtt://broker/plant", "sim:fcu?zones=nan"), "site[0].source: source 'sim:fcu?zones=nan'"),
        ("site = 3\n", "site: write each one as a table of its own, under [[site]]"),
    ],
)
def test_a_mistake_is_told_once_and_no_secret_with_it(write, text, place):
    path = write(text.replace("zones = 2\n", "") if "sim:" in text else text)
    (found,) = problems(path)
    assert found.startswith(place) and "hunter2" not in found


def test_a_name_may_stand_in_the_address_of_a_source(write):
    (site,) = read_settings(write(SITE.replace("broker", "ada@broker"))).site
    assert site.source_config.username == "ada"
    (site,) = read_settings(write(SITE.replace("broker", "ada@broker") + "username = 'bob'\n")).site
    assert site.source_config.username == "bob"


@pytest.mark.parametrize(
    ("address", "table", "client_id"),
    [("", "", "graphghha-north"), ("?client_id=own", "", "own"), ("?client_id=own", "client_id = 'mine'\n", "mine")],
)
def test_the_client_id_of_the_table_prevails_over_that_of_the_address(write, address, table, client_id):
    (site,) = read_settings(write(SITE.replace("/plant", f"/plant{address}") + table)).site
    assert site.source_config.client_id_for(site.name) == client_id


def test_paths_in_an_address_count_from_the_folder_of_the_file_too(write, tmp_path):
    (site,) = read_settings(write(SITE.replace("/plant", "/plant?mapping=map.toml&password_file=a b"))).site
    assert site.source_config.mapping == tmp_path / "map.toml"
    assert site.source_config.password_file == tmp_path / "a b"


def test_a_parquet_file_that_cannot_be_read_for_its_zones_is_a_mistake_of_the_source(write):
    (problem,) = problems(write(SITE.replace("mqtt://broker/plant", "parquet:no.parquet").replace("zones = 2\n", "")))
    assert problem.startswith("site[0].source: ") and "no.parquet" in problem


def test_what_would_fail_at_the_start_is_found_by_the_check(write):
    path = write(
        SITE.replace("mqtt://broker/plant", "csv:nowhere.csv")
        + SITE.replace("north", "south")
        + 'lost_after_s = 5.0\n[[sink]]\nname = "s"\nkind = "jsonl"\npath = "missing/events.jsonl"\n'
    )
    found = [line.removeprefix(f"{path}: ") for line in find_problems(path)]
    assert found == [
        f"site[0].source: there is no file {path.parent / 'nowhere.csv'}",
        "site[1].lost_after_s: 5 s is less than the 60 s between two readings",
        f"sink[0].path: there is no folder {path.parent / 'missing'}",
    ]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("sim:fcu?zone=1", "unknown option 'zone'; did you mean 'zones'?"),
        ("sim:fcu?zones=1&days=1&case=FCU_OABlockag@1,start=2018-07-02T09:00", "FCU_OABlockage"),
        ("csv:day.csv?sped=60", "unknown option 'sped'; did you mean 'speed'?"),
    ],
    ids=["option", "case", "option-of-a-file"],
)
def test_a_mistake_in_the_address_of_a_recording_is_found_by_the_check(write, source, said):
    path = write(SITE.replace("mqtt://broker/plant", source))
    (path.parent / "day.csv").write_text("time,zone-01/RM_TEMP\n2018-07-02T00:00,21.0\n")
    (found,) = find_problems(path)
    assert found.startswith(f"{path}: site[0].source: ") and said in found


def test_a_file_with_a_byte_order_mark_is_read(write):
    assert read_settings(write("\ufeff" + SITE)).site[0].name == "north"
