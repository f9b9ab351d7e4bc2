"""BATADAL, a simulated water network: a normal year, then half a year with seven attacks.

Taormina et al., doi 10.1061/(ASCE)WR.1943-5452.0000969. The normal year has full precision and the other half year two
decimals; the normal year is rounded alike.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graphghha.exports.attack_labels import read_labels
from graphghha.exports.recordings import read_recordings
from graphghha.lab.bench.plants.trials import Draw, Trial, propose
from graphghha.plants.arrow import pa, pq

DATASET = "BATADAL"
BUDGET_PER_DAY = 1 / 14
DECIMALS = 2
LABEL = "ATT_FLAG"


def water_trials(folder: Path, work: Path) -> Iterator[Trial]:
    """Yield the plant with its published graph and with a learned one; `work` receives rounded copies of the files."""
    work.mkdir(parents=True, exist_ok=True)
    files = {}
    for which in ("normal", "attacks"):
        table = pq.read_table(folder / f"train_{which}.parquet")
        columns = {
            name: table[name]
            if name == "DATETIME"
            else pa.array(np.round(table[name].to_numpy().astype(np.float64), DECIMALS))
            for name in table.column_names
            if name != LABEL
        }
        files[which] = work / f"{which}.parquet"
        pq.write_table(pa.table(columns), files[which])
    labels = work / "labels.csv"
    with labels.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["start", "end", "nodes", "class"])
        for row in csv.DictReader((folder / "attacks_train.csv").read_text(encoding="utf-8").splitlines()):
            writer.writerow([row["start"], row["end"], row["target_columns"].replace("|", ";"), row["class"]])
    plants = {"learned graph": propose("plant", [files["normal"]])}
    if (folder / "graph.json").exists():
        plants = {"given graph": propose("plant", [files["normal"]], folder / "graph.json"), **plants}
    for split, plant in plants.items():
        judged = read_recordings([files["attacks"]], plant).recordings
        yield Trial(
            dataset=DATASET,
            split=split,
            plant=plant,
            normal=read_recordings([files["normal"]], plant).recordings,
            draws=(Draw(recordings=judged, events=read_labels(labels, judged, plant)),),
            budget_per_day=BUDGET_PER_DAY,
        )
