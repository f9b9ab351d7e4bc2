"""Tables in our own form whose times name no zone: whether a change to or from summer time shows in them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphghha._util.utf8_file import Utf8File
from graphghha.exports.zones import guess_summer_rule
from graphghha.plants.arrow import pa, pacsv

BLOCK_BYTES = 1 << 22


def read_local_times(path: Path, columns: int, time_column: int) -> NDArray[np.int64] | None:
    """Return the times of a CSV file with this many columns as they stand there; None if any of them names a zone."""
    names = [str(number) for number in range(columns)]
    own = str(time_column)
    blocks = []
    try:
        reader = pacsv.open_csv(
            Utf8File(path),
            read_options=pacsv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=names, skip_rows=1),
            parse_options=pacsv.ParseOptions(invalid_row_handler=lambda row: "skip"),
            convert_options=pacsv.ConvertOptions(include_columns=[own], column_types={own: pa.string()}),
        )
        for batch in reader:
            local = batch.column(0).cast(pa.timestamp("ms")).cast(pa.int64())
            blocks.append(local.drop_null().to_numpy(zero_copy_only=False).astype(np.int64))
    except (OSError, pa.ArrowInvalid):  # times of another form are not ours to judge
        return None
    return np.concatenate(blocks) if blocks else None


def shows_summer_time(local_ms: NDArray[np.int64]) -> bool:
    """Return whether an hour is absent or comes twice where clocks are put forward or back."""
    steps = np.diff(local_ms)
    forward = steps[steps > 0]
    return bool(len(forward)) and guess_summer_rule(local_ms, int(np.median(forward))) is not None
