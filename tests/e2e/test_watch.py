"""`graphghha watch` as users run it: a process that names an attack, reports its health, and ends on request."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

import waiting
from faults.broker import free_port
from faults.syslog_receiver import SyslogReceiver
from graphghha.cli import main
from graphghha.cli.watch import handle_signals
from graphghha.models import shipped_model
from graphghha.plants import load_plant

ATTACK = "case=FCU_VLVStuck_Cooling_100@zone-02,start=2018-07-10T09:00,for=3h"
BUILDING = f"sim:fcu?zones=2&start=2018-07-09&seed=7&{ATTACK}"
COMMAND = [sys.executable, "-c", "from graphghha.cli import main; main()", "watch"]


def until(is_true, what, process):
    """Wait for something that a process does."""
    waiting.until(is_true, what, 600, failure=lambda: None if process.poll() is None else "the process ended")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def kinds(path):
    return [line["kind"] for line in lines(path)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Kernels are compiled once, away from the user's cache."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def start(cache):
    """Processes with their standard output in a file; none outlives the test."""
    started = []

    def run(*arguments, out):
        environment = os.environ | {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(cache)}
        with open(out, "w") as printed:
            process = subprocess.Popen(
                [*COMMAND, *map(str, arguments)], stdout=printed, stderr=subprocess.DEVNULL, env=environment
            )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


def test_an_attack_reaches_all_sinks_and_sigterm_ends_the_service_in_order(start, tmp_path):
    shutil.copytree(shipped_model("fcu"), tmp_path / "one")
    (tmp_path / "current").symlink_to("one")
    port, out = free_port(), tmp_path / "events.jsonl"
    with SyslogReceiver() as siem:
        (tmp_path / "live.toml").write_text(
            f"""
            [[site]]
            name = "office"
            source = "{BUILDING}&days=90"
            model = "current"
            [[sink]]
            name = "file"
            kind = "jsonl"
            path = "events.jsonl"
            [[sink]]
            name = "siem"
            kind = "syslog"
            address = "tcp://localhost:{siem.port}"
            events = ["incident.*"]
            [[sink]]
            name = "dead"
            kind = "mqtt"
            address = "mqtt://localhost:{free_port()}"
            [health]
            port = {port}
            """
        )
        process = start(tmp_path / "live.toml", "--json", out=tmp_path / "printed")
        until(lambda: "incident.annunciated" in kinds(out), "an incident", process)
        incident = next(line["body"] for line in lines(out) if line["kind"] == "incident.annunciated")
        assert (incident["zone"], incident["root"], incident["class"]) == ("zone-02", "FCU_CVLV", "actuator")
        until(lambda: any("|incident.annunciated|" in message for message in siem.messages), "the SIEM", process)
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            health = json.loads(answer.read())
        assert health["status"] == "degraded" and health["reasons"][0].startswith("sink dead: mqtt localhost")
        shutil.copytree(shipped_model("fcu"), tmp_path / "two")
        (tmp_path / "two" / "scaler.json").write_text("{}")
        (tmp_path / "next").symlink_to("two")
        os.replace(tmp_path / "next", tmp_path / "current")
        until(lambda: "model.refused" in kinds(out), "refusal of a damaged model", process)
        process.send_signal(signal.SIGHUP)
        until(lambda: kinds(out).count("model.refused") == 2, "another try on SIGHUP", process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0
    assert (tmp_path / "graphghha-state" / "journal.sqlite").exists()
    numbers = [line["number"] for line in lines(out)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert lines(tmp_path / "printed") == lines(out), "standard output is a sink like the others"


def test_a_signal_before_the_service_is_ready_ends_the_process_at_once_and_cleanly():
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, handle_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    assert ended.value.code == 0 and signal.getsignal(signal.SIGTERM) is handler


def test_the_short_form_prints_json_lines_and_ends_with_its_source(start, tmp_path):
    process = start("--source", f"{BUILDING}&days=2", "--json", out=tmp_path / "printed")
    assert process.wait(600) == 0
    events = lines(tmp_path / "printed")
    assert events[0]["kind"] == "site.watching" and events[-1]["kind"].startswith(("incident.", "alarm."))
    assert [line["body"]["root"] for line in events if line["kind"] == "incident.annunciated"][0] == "FCU_CVLV"


def test_watching_imports_nothing_of_the_laboratory(tmp_path):
    """The laboratory pulls in training and plotting; a monitor in a plant needs neither."""
    (tmp_path / "day.csv").write_text("time,RM_TEMP\n2018-07-02T00:00,21\n2018-07-02T00:01,21\n")
    program = (
        "import sys; from graphghha.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "sys.exit(', '.join(name for name in sys.modules if name.startswith('graphghha.lab')) or 0)"
    )
    for more in ([], ["--check", "--seconds", "5"]):
        arguments = ["watch", "--source", f"csv:{tmp_path / 'day.csv'}", "--zones", "1", "--json", *more]
        result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


def test_check_says_what_maps_and_what_is_silent(tmp_path):
    plant = load_plant("fcu")
    points = plant.template.replicate(2).points[:29]
    middle = {signal.name: round((signal.low + signal.high) / 2) for signal in plant.signals}
    values = ",".join(str(middle[name]) for name in plant.template.point_signals)
    rows = [f"2018-07-02T00:{minute:02},{values}" for minute in range(30)]
    (tmp_path / "day.csv").write_text("\n".join([f"time,{','.join(points)}", *rows]) + "\n")
    arguments = ["watch", "--check", "--source", f"csv:{tmp_path / 'day.csv'}", "--zones", "2", "--seconds", "20"]
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert not report["sound"] and len(report["mapped"]) == len(report["silent"]) == 29
    assert "29 points are silent" in CliRunner().invoke(main, arguments).stderr


def test_check_says_why_nothing_was_heard():
    source = f"mqtt://127.0.0.1:{free_port()}/plant"
    result = CliRunner().invoke(main, ["watch", "--check", "--source", source, "--zones", "1", "--seconds", "2"])
    assert result.exit_code == 3
    assert "site: nothing arrived; cannot reach mqtt://127.0.0.1" in result.stderr and "mapping" not in result.stderr


def test_check_fails_where_nothing_maps(tmp_path):
    (tmp_path / "foreign.csv").write_text("time,PRESSURE\n2018-07-02T00:00,1\n2018-07-02T00:01,1\n")
    source = f"csv:{tmp_path / 'foreign.csv'}"
    result = CliRunner().invoke(main, ["watch", "--check", "--source", source, "--zones", "1", "--seconds", "5"])
    assert result.exit_code == 3 and "none of the names that arrived maps to a point" in result.stderr


def test_check_says_what_a_live_source_with_slow_trends_needs():
    lines = [json.dumps({"point": "RM_TEMP", "time": f"2018-07-02T{hour:02}:00:00Z", "value": 20}) for hour in range(9)]
    arguments = ["watch", "--check", "--source", "-", "--zones", "1", "--seconds", "20"]
    command = [sys.executable, "-m", "graphghha", *arguments]
    result = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False, timeout=60)
    assert "a point has a reading every 3600 s, and they are used for 300 s" in result.stderr
    assert "set stale_after_s = 5400 and lost_after_s = 7200 of the site" in result.stderr


@pytest.fixture
def bms(tmp_path):
    """An export in degF that nothing says so of."""
    rows = "".join(f"02.07.2018 09:{minute:02};72,5;55,0\n" for minute in range(40))
    (tmp_path / "bms.csv").write_text("Zeit;R1 Room Temp;R1 DAT\n" + rows)
    return tmp_path / "bms.csv"


def test_a_check_drafts_a_mapping_and_watch_refuses_what_cannot_be_right(bms, tmp_path):
    arguments = ["watch", "--source", f"csv:{bms}", "--zones", "1"]
    refused = CliRunner().invoke(main, arguments)
    assert refused.exit_code == 3 and "none of its 2 names, such as 'R1 Room Temp', maps to a point" in refused.stderr
    draft = tmp_path / "map.toml"
    drafted = CliRunner().invoke(main, [*arguments, "--check", "--write-mapping", str(draft)])
    assert drafted.exit_code == 0 and 'unit = "degF"' in draft.read_text()
    draft.write_text("\n".join(line for line in draft.read_text().splitlines() if not line.startswith("unit")))
    arguments += ["--mapping", str(draft)]
    checked = CliRunner().invoke(main, [*arguments, "--check"])
    assert "no unit is stated for 2 names, marked ? below" in checked.stderr
    assert "readings of 2 names do not fit" in checked.stderr and "degC?" in checked.stdout
    refused = CliRunner().invoke(main, arguments)
    assert refused.exit_code == 3 and "reads like degF, not degC; state units in a mapping file" in refused.stderr
    assert CliRunner().invoke(main, [*arguments, "--force", "--json"]).exit_code == 0


def test_a_setting_allows_what_looks_wrong(bms, start, tmp_path):
    (tmp_path / "map.toml").write_text('[[map]]\ncolumn = "R1 Room Temp"\npoint = "zone-01/RM_TEMP"\n')
    site = f'[[site]]\nname = "hq"\nsource = "csv:{bms}"\nzones = 1\nmapping = "map.toml"\n'
    (tmp_path / "live.toml").write_text(site)
    assert CliRunner().invoke(main, ["watch", str(tmp_path / "live.toml")]).exit_code == 3
    (tmp_path / "live.toml").write_text(site + "force = true\n")
    assert start(tmp_path / "live.toml", out=tmp_path / "printed").wait(300) == 0


def test_a_file_without_one_usable_reading_does_not_pass_for_a_quiet_plant(start, tmp_path):
    (tmp_path / "bad.csv").write_text("time,RM_TEMP\nnot-a-time,x\n")
    arguments = ("--source", f"csv:{tmp_path / 'bad.csv'}", "--zones", "1", "--json")
    assert "has no usable reading" in CliRunner().invoke(main, ["watch", *arguments]).stderr
    process = start(*arguments, "--force", out=tmp_path / "printed")
    assert process.wait(300) == 0
    assert "source.silent" in [line["kind"] for line in lines(tmp_path / "printed")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either a settings file or --source"),
        (["--source", "kafka:x", "--zones", "1"], "not an address"),
        (["--source", "mqtt://broker/x"], "watch: --zones: missing"),
    ],
)
def test_what_cannot_be_watched_is_refused_with_two(arguments, message):
    result = CliRunner().invoke(main, ["watch", *arguments])
    assert result.exit_code == 2 and message in result.stderr


def test_a_recording_of_changes_is_watched_as_one_without_being_told(tmp_path):
    path = tmp_path / "cov.parquet"
    building = ("--building", "910001", "--seed", "910001", "--observe", "cov", "--zones", "2", "--days", "1")
    assert CliRunner().invoke(main, ["simulate", *building, "--out", str(path)]).exit_code == 0
    result = CliRunner().invoke(main, ["watch", "--source", f"parquet:{path}", "--json"])
    assert result.exit_code == 0, result.stderr
    seen = [json.loads(line)["kind"] for line in result.stdout.splitlines()]
    assert "site.watching" in seen and not [kind for kind in seen if kind.startswith(("nodes.", "zone."))]
