"""Every problem of a settings file is reported with its place, and no secret appears in a report."""

import contextlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from graphghha.cli import main
from graphghha.errors import ConfigError
from graphghha.settings import find_problems, read_settings
from settings_builders import SITE, problems

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "graphghha.toml"


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
    listed = problems(path)
    assert "monitr: unknown setting; did you mean 'monitor'?" in listed
    assert "monitor.keep_day: unknown setting; did you mean 'keep_days'?" in listed
    assert "site[0].sorce: unknown setting; did you mean 'source'?" in listed
    assert "site[0].source: missing; it has no default" in listed
    assert "site[0].zones: input should be greater than or equal to 1" in listed
    assert f"site[0].model: there is no folder {path.parent / 'nowhere'}" in listed
    assert "sink[0]: unknown kind; use jsonl | mqtt | syslog" in listed
    assert "sink[1].adress: unknown setting; did you mean 'address'?" in listed
    assert any(line.startswith("site[0].name: must match") for line in listed)


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
            "site[1].source: site[0] already reads standard input",
        ),
        (SITE.replace("mqtt://broker/plant", "sim:fcu?zones=nan"), "site[0].source: source 'sim:fcu?zones=nan'"),
        ("site = 3\n", "site: write each one as a table of its own, under [[site]]"),
    ],
)
def test_a_mistake_is_reported_once_and_without_the_secret(write, text, place):
    path = write(text.replace("zones = 2\n", "") if "sim:" in text else text)
    (problem,) = problems(path)
    assert problem.startswith(place) and "hunter2" not in problem


def test_a_file_that_is_absent_or_not_toml_is_reported(write, tmp_path):
    assert "not TOML" in problems(write("[monitor"))[0]
    assert "cannot be read" in problems(tmp_path / "none.toml")[0]


def test_a_file_with_a_byte_order_mark_is_read(write):
    assert read_settings(write("\ufeff" + SITE)).site[0].name == "north"


def test_the_command_lists_problems_and_ends_with_two(write):
    path = write("[monitr]\n" + SITE)
    result = CliRunner().invoke(main, ["config", "check", str(path)])
    assert result.exit_code == 2 and "monitr: unknown setting" in result.stdout and "1 problem" in result.stderr
    result = CliRunner().invoke(main, ["config", "check", str(EXAMPLE), "--json"])
    assert result.exit_code == 0 and json.loads(result.stdout) == {"sound": True, "problems": []}


KEYS = st.sampled_from(
    [
        "name",
        "source",
        "plant",
        "zones",
        "model",
        "mapping",
        "kind",
        "address",
        "path",
        "port",
        "keep_days",
        "state_dir",
    ]
)
VALUES = st.sampled_from(
    [
        '"north"',
        '"mqtt://broker/plant"',
        '"mqtt://[::1"',
        '"sim:fcu?zones=1e9"',
        '"csv:"',
        '"-"',
        "1e999",
        "-1",
        "[]",
        "{}",
    ]
) | st.integers().map(str)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(" = ".join),
    st.sampled_from(["[[site]]", "[[sink]]", "[monitor]", "[health]", "[log]", "[site]"]),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
)


@hypothesis.settings(max_examples=150)
@given(st.lists(LINES, max_size=8).map("\n".join))
@example("site = " + "[" * 2_000)  # nested too deeply
@example('[[site]]\nname = "a"\nsource = "mqtt://[::1"')
@example('[[site]]\nname = "a"\nsource = "sim:fcu?zones=100000000000"')
@example('[[site]]\nname = "a"\nsource = "mqtt://a:99999999999/x"\nzones = 1')
@example('[[site]]\nname = "a"\nsource = "mqtt://h\\u0000st/x"\nzones = 1')
@example('[[site]]\nname = "a"\nsource = "csv:\\u0000"\nzones = 1')
@example('[[site]]\nname = "a"\nsource = "-"\nzones = 1\nmodel = "\\u0000"')
@example('[[sink]]\nkind = "syslog"\nname = "s"\naddress = "tls://[::1"\n[[site]]\nname = "a"\nsource = "-"\nzones = 1')
def test_any_settings_file_is_read_or_refused(text):
    with TemporaryDirectory() as folder:
        file = Path(folder) / "graphghha.toml"
        file.write_text(text, encoding="utf-8")
        with contextlib.suppress(ConfigError):
            read_settings(file)
