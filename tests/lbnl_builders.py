"""A simulated file in the format of the data set, to read, damage and repair."""

import numpy as np

from graphghha.plants.fcu.lbnl.files import open_lbnl

DAYS = 2
FAULT_FREE = "FCU_FaultFree"


def lines_of(folder):
    return (folder / f"{FAULT_FREE}.csv").read_text().splitlines()


def rewrite(folder, lines):
    (folder / f"{FAULT_FREE}.csv").write_text("\n".join(lines) + "\n")


def read(folder, *, repair=False):
    chunks = list(open_lbnl(folder)[FAULT_FREE].chunks(repair=repair))
    return (
        np.concatenate([c.times for c in chunks]),
        np.concatenate([c.values[0] for c in chunks]),
        np.concatenate([c.quality[0] for c in chunks]),
    )
