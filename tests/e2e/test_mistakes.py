"""A hundred mistakes at the command line: each is said in few words, with a code, and none gives a traceback."""

import shlex

import pytest
from click.testing import CliRunner

from graphghha.cli import main
from graphghha.monitor import Journal, Monitor
from monitor_builders import CONFIG, detector, telemetry, wide

TIMES, VALUES = telemetry(140)
SIM = "simulate --days 1 --out x.parquet"
JOURNAL = "--journal journal.sqlite"

# what is typed, and a part of the answer
MISTAKES = (
    # simulate
    (f"{SIM} --case FCU_VLVStuk_Cooling_100@1,start=2018-01-01T09:00,for=6h", "did you mean"),
    (f"{SIM} --case FCU_VLVStuck_Cooling_100@5,start=2018-01-01T09:00,for=6h", "zone"),
    (f"{SIM} --case FCU_VLVStuck_Cooling_100@1,start=2019-01-01T09:00,for=6h", "outside"),
    (f"{SIM} --case FCU_VLVStuck_Cooling_100@1,start=noon,for=6h", "noon"),
    (f"{SIM} --case FCU_VLVStuck_Cooling_100", "NAME@ZONE"),
    (f"{SIM} --case generic:nothing:1@1,start=2018-01-01T09:00,for=6h", "nothing"),
    (f"{SIM} --days -3", "-3"),
    (f"{SIM} --days 0", "0 days"),
    (f"{SIM} --zones 5000", "1 to 1000"),
    (f"{SIM} --zones two", "not a valid integer"),
    (f"{SIM} --seed -1", "negative"),
    (f"{SIM} --start 2018-13-01", "does not match"),
    (f"{SIM} --plant fcuu", "did you mean 'fcu'"),
    (f"{SIM} --building nowhere", "nowhere"),
    (f"{SIM} --observe sometimes", "sometimes"),
    (f"{SIM} --weather missing.csv", "does not exist"),
    (f"{SIM} --weather day.csv", "day.csv"),
    ("simulate --days 1 --out x.csv", ".parquet"),
    ("simulate --days 1 --out file/x.parquet", "file"),
    ("simulate --days 1 --out /proc/nope/x.parquet", "/proc/nope"),
    ("simulate --days 1", "--out"),
    # outputs that cannot be written
    ("train --out file/m", "is a file, not a folder"),
    ("train --out /proc/nope/m", "cannot be written"),
    ("train --out m --work file/w", "is a file, not a folder"),
    ("train --out full", "full"),
    ("export --out file/x.onnx", "is a file, not a folder"),
    ("export --out /proc/nope/x.onnx", "cannot be written"),
    ("export --out folder", "is a folder"),
    ("export --out x.txt", ".onnx"),
    ("bench latency --quick --out file/x.json", "is a file, not a folder"),
    ("bench latency --quick --out /proc/nope/x.json", "cannot be written"),
    ("bench precision --quick --out folder", "is a folder"),
    ("bench detection --quick --out file/x.json", "is a file, not a folder"),
    ("bench paper --quick --out file/x", "is a file, not a folder"),
    ("bench paper --quick --out p --work file/w", "is a file, not a folder"),
    ("bench page result.json --out file/x", "is a file, not a folder"),
    ("demo --headless --picture file/x.svg", "is a file, not a folder"),
    ("demo --headless --picture /proc/nope/x.svg", "cannot be written"),
    ("evaluate fcu day.parquet --out file/x", "is a file, not a folder"),
    ("score fcu day.parquet --out file/x.parquet", "is a file, not a folder"),
    ("commission day.parquet --out file/x", "is a file, not a folder"),
    ("graph draw fcu --out file/x.svg", "is a file, not a folder"),
    ("plant new --data day.csv --out file/plant.toml", "file"),
    ("data check day.csv --html file/x.html", "file"),
    ("testbed import day.csv --out file/x", "file"),
    # models
    ("train --layer gat --out m", "unknown layer"),
    ("train --alert-budget lots --out m", "positive number"),
    ("train --preset huge --out m", "huge"),
    ("train --dtype fp8 --out m", "fp8"),
    ("train --seed -1 --out m", "-1"),
    ("train --threads 0 --out m", "0"),
    ("evaluate nomodel", "no model of this name"),
    ("evaluate folder", "folder"),
    ("evaluate fcu missing.parquet", "does not exist"),
    ("evaluate fcu day.parquet", "day.parquet"),
    ("evaluate fcu folder", "no telemetry"),
    ("evaluate --runs 0", "runs 0"),
    ("evaluate fcu day.parquet --runs 2", "deploy protocol"),
    ("score fcu day.parquet --out x.csv", ".parquet"),
    ("score fcu empty.csv --out x.parquet", "empty"),
    ("score fcu day.parquet", "--out"),
    ("score fcu day.parquet --out day.parquet", "choose another file"),
    ("score fcu cut.parquet --out x.parquet", "cannot be read as Parquet"),
    ("evaluate fcu day.parquet --labels result.json", "the columns are start,end,nodes,class"),
    ("evaluate fcu day.parquet --labels labels.csv", "DataError: day.parquet: has 1.0 days, and the first 3 only"),
    ("score fcu day.parquet --hold --out x.parquet", "nor --hold"),
    ("score fcu day.parquet --time-zone Mars/Base --out x.parquet", "--time-zone"),
    ("score fcu strange.csv --out x.parquet", "has no reading for a point"),
    ("commission folder --out m", "folder"),
    ("commission day.parquet --out m", "1.0 days"),
    ("commission day.parquet --days 3 --out m", "7"),
    ("commission day.parquet --model fcu --days 7 --out m", "fcu"),
    ("commission missing.csv --out m", "does not exist"),
    ("commission day.parquet --site office --out m", "settings file"),
    ("export", "--out"),
    ("model show folder", "folder"),
    ("model verify folder", "folder"),
    # sources
    ("watch", "either a settings file or --source"),
    ("watch good.toml --source sim:fcu", "either a settings file or --source"),
    ("watch --source cvs:day.csv --zones 1", "not an address"),
    ("watch --source day.csv --zones 1", "not an address"),
    ("watch --source sim:fcu?zone=2", "did you mean 'zones'"),
    ("watch --source sim:fcuu", "fcuu"),
    ("watch --source sim:fcu?zones=2 --zones 3", "the source has 2 zones"),
    ("watch --source csv:missing.csv --zones 1", "missing.csv"),
    ("watch --source csv:empty.csv --zones 1", "empty"),
    ("watch --source csv:day.parquet --zones 1", "write parquet:day.parquet"),
    ("watch --source csv:day.csv", "zones"),
    ("watch --source csv:day.csv --zones 3", "none of the points of zone-02, zone-03"),
    ("watch --source csv:strange.csv --zones 1", "none of its 2 names"),
    ("watch --source mqtt://user:secret@host/x --zones 1", "password"),
    ("watch --source csv:day.csv --zones 1 --mapping missing.toml", "does not exist"),
    ("watch --source csv:day.csv --zones 1 --mapping unit.toml", "degX"),
    ("watch --source csv:day.csv --zones 1 --mapping key.toml", "did you mean 'column'"),
    ("watch --source csv:day.csv --zones 1 --mapping day.csv", "not TOML"),
    ("watch --source csv:day.csv --zones 1 --model folder", "folder"),
    ("watch --source sim:fcu?zones=1 --plant ahu", "ahu"),
    ("watch --source csv:day.csv --zones 1 --write-mapping m.toml", "belongs to --check"),
    ("watch --source csv:day.csv --zones 1 --check --write-mapping file/m.toml", "file"),
    ("watch --source csv:header.csv --zones 1 --check", "nothing arrived"),
    ("watch --source csv:header.csv --zones 1", "no usable reading (it is empty)"),
    ("watch --source csv:times.csv --zones 1", "no usable reading (60 bad_time)"),
    ("watch --source csv:binary.csv --zones 1", "not a text file"),
    ("watch --source csv:twice.csv --zones 1", "both feed"),
    ("watch --source csv:day.csv?hold=maybe --zones 1", "hold"),
    ("watch --source csv:day.csv?speed=fast --zones 1", "speed"),
    ("watch --source csv:day.csv?zone=Mars --zones 1", "Mars"),
    ("watch --source parquet:cut.parquet", "cannot be read as Parquet"),
    ("watch --source sim:fcu?zones=1 --units kelvin", "kelvin"),
    ("watch --source mqtt://127.0.0.1:99999/x --zones 1", "99999"),
    ("watch folder", "is a directory"),
    ("watch empty.csv", "site: missing"),
    ("config check twins.toml", "is taken by site[0]"),
    ("watch --source mqtt://127.0.0.1:9/x --zones 1 --check --seconds 1", "cannot reach"),
    ("watch --source sim:fcu?zones=1 --state file/s", "state_dir"),
    ("watch broken.toml", "not TOML"),
    ("watch wrong.toml", "unknown setting"),
    ("watch missing.toml", "does not exist"),
    ("config check broken.toml", "not TOML"),
    ("config check wrong.toml", "did you mean 'source'"),
    ("config check day.csv", "not TOML"),
    # operators
    ("alarms list", "either a settings file"),
    ("alarms list --journal missing.sqlite", "there is no journal"),
    ("alarms list --journal day.csv", "day.csv"),
    ("alarms list good.toml", "there is no journal"),
    ("alarms list wrong.toml --journal journal.sqlite", "either a settings file"),
    (f"alarms show {JOURNAL} 1", "there is no incident '1'"),
    (f"alarms ack {JOURNAL} nothing", "nothing"),
    (f"alarms shelve {JOURNAL} zone-01/valve --for 30 --reason x", "at most 24"),
    (f"alarms shelve {JOURNAL} zone-01/valve", "--reason"),
    (f"alarms change {JOURNAL} suppress zone-01/valve", "reason"),
    (f"alarms change {JOURNAL} explode zone-01/valve", "explode"),
    (f"alarms dispose {JOURNAL} 1 perhaps", "perhaps"),
    ("alarm list", "Did you mean"),
    ("status", "either a settings file"),
    ("status --journal missing.sqlite", "there is no journal"),
    (f"status {JOURNAL} --site x", "has no site 'x'"),
    (f"status {JOURNAL} --zone x", "has no zone 'x'"),
    # the rest
    ("bench paper --only nope --out p", "nope"),
    ("bench latency --sizes 32,x", "x"),
    ("bench page day.csv --out p", "day.csv"),
    ("graph check missing.json", "missing.json"),
    ("graph check good.toml", "good.toml"),
    ("graph draw fcu --out x.txt", "x.txt"),
    ("data check missing.csv", "no such file"),
    ("data check empty.csv", "empty.csv"),
    ("demo --headless --minutes 2000", "1 to 900"),
    ("cases --plant nothing", "nothing"),
    ("nonsense", "No such command"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a sound file of each kind, and broken ones."""
    path = tmp_path_factory.mktemp("mistakes")
    times = [f"2018-07-02T{minute // 60:02}:{minute % 60:02}:00Z" for minute in range(60)]
    rows = "".join(f"{time},21.{number % 10},22.{number % 10}\n" for number, time in enumerate(times))
    texts = {
        "file": "not a folder",
        "day.csv": f"time,zone-01/RM_TEMP,zone-01/FCU_RAT\n{rows}",
        "strange.csv": f"time,R101.Temp,R101.Return\n{rows}",
        "times.csv": "time,zone-01/RM_TEMP\n" + "".join(f"yesterday {number},21\n" for number in range(60)),
        "twice.csv": "time,zone-01/RM_TEMP,zone-01/RM_TEMP\n2018-07-02T09:00Z,21,22\n",
        "twins.toml": '[[site]]\nname = "a"\nsource = "sim:fcu"\n[[site]]\nname = "a"\nsource = "sim:fcu"\n',
        "labels.csv": "start,end,nodes,class\n",
        "header.csv": "time,zone-01/RM_TEMP\n",
        "empty.csv": "",
        "result.json": "{}",
        "unit.toml": '[units]\nRM_TEMP = "degX"\n',
        "key.toml": '[[map]]\ncolunm = "a"\npoint = "zone-01/RM_TEMP"\n',
        "good.toml": '[[site]]\nname = "a"\nsource = "sim:fcu?zones=1&days=1"\n',
        "wrong.toml": '[[site]]\nname = "a"\nsuorce = "sim:fcu"\n',
        "broken.toml": "[[site\n",
    }
    for name, text in texts.items():
        (path / name).write_text(text)
    (path / "folder").mkdir()
    (path / "full").mkdir()
    (path / "full" / "other").write_text("")
    (path / "binary.csv").write_bytes(bytes(range(256)) * 40)
    made = CliRunner().invoke(main, ["simulate", "--days", "1", "--out", str(path / "day.parquet")])
    assert made.exit_code == 0, made.output
    (path / "cut.parquet").write_bytes((path / "day.parquet").read_bytes()[:20_000])
    with Journal(path / "journal.sqlite") as writer:
        monitor = Monitor(writer)
        monitor.add("office", detector(), CONFIG)
        monitor.step(wide(TIMES[:40], VALUES[:40]))
    return path


@pytest.mark.parametrize(("typed", "answer"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered_without_a_traceback(typed, answer, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, shlex.split(typed))
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code not in (0, 1), result.output
    assert answer in result.output and "Traceback" not in result.output, result.output
    assert len(result.stderr.strip().splitlines()) <= 6, result.stderr


def test_there_are_a_hundred_of_them():
    assert len(MISTAKES) >= 100
