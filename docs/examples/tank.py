"""Writes records of an invented plant, a tank with a pump and a valve: normal.csv, later.csv and attacks.csv."""

import csv
import math
import random
from datetime import datetime, timedelta
from pathlib import Path

STEP = timedelta(minutes=5)
HEADER = ["time", "LIT101 [m]", "FIT101 [L/s]", "FIT102 [L/s]", "P101", "MV101 [%]"]


def write_records(path: Path, start: datetime, days: int, seed: int, attack: range = range(0)) -> None:
    """Write a table of the plant; in the rows of the attack the level reads too high."""
    chance = random.Random(seed)
    level, pump = 2.0, 0
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for row in range(days * 288):
            valve = 40 + 25 * math.sin(2 * math.pi * row / 288) + chance.gauss(0, 1)
            pump = 1 if level < 1.5 else 0 if level > 3.0 else pump
            inflow = pump * (8 + chance.gauss(0, 0.1))
            outflow = 0.08 * valve * math.sqrt(level) + chance.gauss(0, 0.05)
            level = max(0.1, level + 0.01 * (inflow - outflow))
            shown = level + (0.6 if row in attack else 0.0) + chance.gauss(0, 0.005)
            time = start + row * STEP
            writer.writerow([time, f"{shown:.3f}", f"{inflow:.2f}", f"{outflow:.2f}", pump, f"{valve:.1f}"])


if __name__ == "__main__":
    write_records(Path("normal.csv"), datetime(2026, 3, 1), 14, seed=1)
    write_records(Path("later.csv"), datetime(2026, 3, 20), 3, seed=2, attack=range(300, 350))
    Path("attacks.csv").write_text("start,end,nodes,class\n2026-03-21 01:00,2026-03-21 05:05,LIT101,sensor\n")
