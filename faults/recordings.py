"""Hostile CSV and Parquet files are read or refused, in bounded memory.

A large file is read in a process of its own. Usage: python -m faults.recordings ADDRESS
"""

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_all, expect_at_most, expect_none, report
from faults.rig import Rig, child_environment
from faults.toy_detector import SITE
from graphghha.errors import GraphGHHAError
from graphghha.plants import load_plant
from graphghha.sources import open_source, parse_address

FILES, LINE, COLUMNS, NAME, TIME = (
    "hostile CSV and Parquet files",
    "CSV with one line of hundreds of megabytes",
    "CSV with a million columns",
    "small Parquet file with a name of hundreds of megabytes",
    "small Parquet file with millions of rows of one time",
)
MAX_MB = 700.0  # of the whole process
MOST_S = 300.0
CSV = "time,zone-01/RM_TEMP,zone-02/RM_TEMP [degF]\n" + "".join(
    f"2018-07-02T09:{minute:02d}:00Z,{20 + minute / 10},{68 + minute / 10}\n" for minute in range(60)
)


def try_recordings(folder: Path, rig: Rig, effort: Effort, progress: Progress, seed: int = 0) -> list[Figure]:
    folder.mkdir(parents=True, exist_ok=True)
    progress(FILES)
    figures = _mutations(folder, effort.hostile_files, random.Random(seed))
    for fault, write, size in (
        (LINE, _long_line, effort.long_line_mb),
        (COLUMNS, _many_columns, effort.columns),
        (NAME, _long_name, effort.long_name_mb),
        (TIME, _one_time, effort.rows_of_one_time),
    ):
        progress(fault)
        figures += _measured(fault, write(folder, size), f"{size:,}")
    return figures


def _mutations(folder: Path, count: int, chance: random.Random) -> list[Figure]:
    columns = {"time": ["2018-07-02T09:00:00Z"] * 9, "point": ["zone-01/RM_TEMP"] * 9, "value": [21.0] * 9}
    pq.write_table(pa.table(columns), folder / "good.parquet")
    good = {"csv": CSV.encode(), "parquet": (folder / "good.parquet").read_bytes()}
    failed, read = 0, 0
    for number in range(count):
        kind = ("csv", "parquet")[number % 2]
        path = folder / f"hostile.{kind}"
        path.write_bytes(_mutated(good[kind], chance))
        try:
            _drain(f"{kind}:{path}")
            read += 1
        except GraphGHHAError:
            continue
        except Exception:
            failed += 1
    return [
        expect_none(FILES, "neither read nor refused", failed, f"{count:,}"),
        report(FILES, "read, as far as they can be used", f"{read} of {count:,}"),
    ]


def _mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(changed))
        match chance.randrange(6):
            case 0:
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                changed[at : at + chance.randrange(50)] = chance.randbytes(chance.randrange(50))
            case 2:
                del changed[at:]
            case 3:
                changed[at:at] = chance.choice([b"\x00", b'"', b"\xff\xfe", b",", b"\r", b"1e999", b"-" * 5000])
            case 4:
                changed[at:at] = changed[: chance.randrange(len(changed))]
            case 5:
                changed[at : at + 8] = b"\xff" * 8
        changed = changed or bytearray(b"x")
    return bytes(changed)


def _long_line(folder: Path, megabytes: int) -> str:
    path = folder / "line.csv"
    with path.open("wb") as file:
        file.write(b"time,zone-01/RM_TEMP\n2018-07-02T09:00:00Z,")
        for _ in range(megabytes):
            file.write(b"9" * 1_000_000)
        file.write(b"\n2018-07-02T09:01:00Z,21\n")
    return f"csv:{path}"


def _many_columns(folder: Path, count: int) -> str:
    path = folder / "columns.csv"
    names = ",".join(f"c{number}" for number in range(count))
    path.write_text(f"time,zone-01/RM_TEMP,{names}\n" + ("2018-07-02T09:00:00Z,21" + ",1" * count + "\n"))
    return f"csv:{path}"


def _long_name(folder: Path, megabytes: int) -> str:
    path = folder / "name.parquet"
    table = pa.table({"time": ["2018-07-02T09:00:00Z"], "point": ["x" * (megabytes * 1_000_000)], "value": [1.0]})
    pq.write_table(table, path, compression="zstd")
    return f"parquet:{path}"


def _one_time(folder: Path, rows: int) -> str:
    path, part = folder / "time.parquet", 100_000
    columns = {"time": ["2018-07-02T09:00:00Z"] * part, "point": ["zone-01/RM_TEMP"] * part, "value": [21.0] * part}
    table = pa.table(columns)
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(rows // part):
            writer.write_table(table)
    return f"parquet:{path}"


def _measured(fault: str, address: str, size: str) -> list[Figure]:
    """Read a file in a process of its own."""
    command = [sys.executable, "-m", "faults.recordings", address]
    began = time.monotonic()
    try:
        done = subprocess.run(command, env=child_environment(), capture_output=True, timeout=MOST_S, check=False)
        result: dict[str, Any] = json.loads(done.stdout or b"{}")
    except subprocess.TimeoutExpired:
        result = {}
    took_s = time.monotonic() - began
    outcome = f"{result.get('refused') or str(result.get('readings')) + ' readings'} in {took_s:.0f} s"
    return [
        expect_all(fault, f"read or refused ({size})", int(bool(result)), 1),
        expect_at_most(fault, "memory of the process", result.get("peak_mb", float("inf")), MAX_MB, " MB"),
        report(fault, "what became of it", outcome),
    ]


def _drain(address: str) -> int:
    """Read a file to its end; return the number of readings."""
    plant, readings = load_plant("fcu"), 0
    source = open_source(parse_address(address), site=SITE, points=plant.template.replicate(2).points, plant=plant)
    try:
        while not source.status.is_finished:
            batch = source.poll(0.0)
            readings += 0 if batch is None else len(batch)
    finally:
        source.close()
    return readings


def main(address: str) -> None:
    result: dict[str, Any] = {}
    try:
        result["readings"] = _drain(address)
    except GraphGHHAError as exc:
        result["refused"] = f"refused ({type(exc).__name__})"
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    result["peak_mb"] = next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM:"))
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
