import hashlib
import warnings
import zipfile
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphghha.errors import DataError, NotFoundError, SchemaError
from graphghha.plants.fcu.lbnl import files as lbnl
from graphghha.plants.fcu.lbnl.checksums import MD5
from graphghha.plants.fcu.lbnl.files import AlteredFileWarning, LbnlFile, RepairWarning, case_from_file_name, open_lbnl
from graphghha.plants.fcu.lbnl.rows import Repairs, parse_minute
from graphghha.plants.fcu.lbnl.writer import LbnlWriter, note_simulated
from graphghha.plants.fcu.physics.building import Building
from graphghha.plants.fcu.signals import INDEX, NAMES, SOURCE_SCALE, to_si
from graphghha.plants.telemetry import GOOD, MISSING, REPAIRED

DAYS = 2
FAULT_FREE = "FCU_FaultFree"


@pytest.fixture(scope="module")
def simulated():
    building = Building(zones=1, seed=2, start=datetime(2018, 12, 30))
    return list(building.days(DAYS))


@pytest.fixture
def folder(tmp_path, simulated):
    with LbnlWriter(tmp_path / f"{FAULT_FREE}.csv") as writer:
        for day in simulated:
            writer.write(day.times, day.telemetry[0])
    note_simulated(tmp_path / f"{FAULT_FREE}.csv", rows=DAYS * 1440, about={"seed": 2})
    return tmp_path


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


def test_a_simulated_file_reads_back_in_si_up_to_its_two_decimals(folder, simulated):
    times, values, quality = read(folder)
    truth = np.concatenate([day.telemetry[0] for day in simulated])
    assert (times == np.concatenate([day.times for day in simulated])).all()
    assert (np.abs(values - truth) <= 0.00501 * SOURCE_SCALE + 1e-9).all()
    assert (quality == GOOD).all()


def test_the_file_looks_like_the_published_ones(folder):
    header, first, *_ = lines_of(folder)
    assert header == ",".join(("Datetime", *NAMES))
    time, *cells = first.split(",")
    assert time == "12/30/2018 00:00"
    assert all(len(cell.partition(".")[2]) <= 2 for cell in cells)
    assert 32 < float(cells[INDEX["RM_TEMP"]]) < 100  # degF


def test_it_is_read_in_whole_days(folder):
    assert [len(chunk.times) for chunk in open_lbnl(folder)[FAULT_FREE].chunks()] == [1440, 1440]


def test_a_zip_reads_like_a_folder_whatever_the_directory_inside(folder, tmp_path):
    archive = tmp_path / "FCU.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.write(folder / f"{FAULT_FREE}.csv", f"FCU data/{FAULT_FREE}.csv")
        pack.write(folder / "simulated.json", "FCU data/simulated.json")
        pack.writestr(f"__MACOSX/FCU data/{FAULT_FREE}.csv", "junk")
    (chunk, *_) = open_lbnl(archive)[FAULT_FREE].chunks()
    (same, *_) = open_lbnl(folder)[FAULT_FREE].chunks()
    assert (chunk.values == same.values).all()


def test_unpadded_times_extra_columns_and_another_order_are_welcome(folder):
    header, *rows = lines_of(folder)
    times, values, _ = read(folder)
    turned = [",".join(reversed((header + ",note").split(",")))]
    for row in rows:
        time, *cells = row.split(",")
        month, day, rest = time.split("/")
        year, clock = rest.split(" ")
        hour, minute = clock.split(":")
        short = f"{int(month)}/{int(day)}/{year} {int(hour)}:{minute}"
        turned.append(",".join(reversed([short, *cells, "0"])))
    rewrite(folder, turned)
    again, same, _ = read(folder)
    assert (again == times).all()
    assert (same == values).all()


def test_the_label_is_the_file_name_even_when_a_tool_has_escaped_it(tmp_path):
    for name in ("FCU_FilterRestriction_10%25", "FCU_SensorBias_RMTemp_%2B2C", "FCU_OABlockage", "FCU_Mine"):
        (tmp_path / f"{name}.csv").write_text("")
    files = open_lbnl(tmp_path)
    assert set(files) == {"FCU_FilterRestriction_10%", "FCU_SensorBias_RMTemp_+2C", "FCU_OABlockage", "FCU_Mine"}
    assert files["FCU_FilterRestriction_10%"].case.targets == ("Air_path",)
    assert files["FCU_SensorBias_RMTemp_+2C"].case.attack_class == "sensor"
    assert files["FCU_Mine"].case is None
    assert not files["FCU_Mine"].is_normal
    assert files["FCU_OABlockage"].expected_rows == 525_600
    assert case_from_file_name("FCU_FilterRestriction_10%.csv") == "FCU_FilterRestriction_10%"


def test_a_subset_comes_in_the_order_asked_for_and_an_absent_case_gets_a_hint(folder):
    (folder / "FCU_OABlockage.csv").write_text("")
    assert list(open_lbnl(folder)) == [FAULT_FREE, "FCU_OABlockage"]
    assert list(open_lbnl(folder, ["FCU_OABlockage"])) == ["FCU_OABlockage"]
    with pytest.raises(NotFoundError, match="did you mean 'FCU_OABlockage'"):
        open_lbnl(folder, ["FCU_OABlock"])


def test_a_place_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match="not a folder or a zip"):
        open_lbnl(tmp_path / "absent.zip")
    with pytest.raises(DataError, match=r"no FCU_\*\.csv inside"):
        open_lbnl(tmp_path)


def test_an_altered_original_and_a_swapped_one_are_warned_of_but_a_simulated_one_is_not(folder, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(folder)
    (folder / "simulated.json").unlink()
    file = LbnlFile(FAULT_FREE, "here", lambda: (folder / f"{FAULT_FREE}.csv").open("rb"))
    with pytest.warns(AlteredFileWarning, match="here: not the published FCU_FaultFree: its MD5 is"):
        next(file.chunks())
    digest = hashlib.md5((folder / f"{FAULT_FREE}.csv").read_bytes()).hexdigest()
    monkeypatch.setitem(lbnl.MD5, "FCU_OABlockage", digest)
    assert "it is a copy of FCU_OABlockage" in file.alteration()
    monkeypatch.setitem(lbnl.MD5, FAULT_FREE, digest)
    assert file.alteration() is None


def test_a_damaged_note_of_simulation_is_an_error(folder):
    for text in ("[]", "{", '{"FCU_FaultFree.csv": {}}', '{"FCU_FaultFree.csv": 3}'):
        (folder / "simulated.json").write_text(text)
        with pytest.raises(DataError, match=r"simulated\.json: expected a JSON object"):
            open_lbnl(folder)


def test_two_of_the_originals_are_byte_identical():
    assert MD5["FCU_Fouling_Cooling_Airside_Minor"] == MD5["FCU_Fouling_Heating_Airside_Minor"]
    assert len(set(MD5.values())) == len(MD5) - 1 == 48


@pytest.mark.parametrize(
    ("damage", "line", "message"),
    [
        pytest.param(lambda rows: rows[:700] + [rows[700][:40]], 701, "fields where the header has 30", id="cut-line"),
        pytest.param(lambda rows: rows[:700], 700, "ends after 699 of 2880 rows: it is truncated", id="cut-short"),
        pytest.param(lambda rows: rows[:700] + rows[703:], 701, "a gap of 3 minutes", id="gap"),
        pytest.param(lambda rows: rows[:700] + rows[699:], 701, "is not after", id="repeated-row"),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 3, "abc"), *rows[701:]], 701, "RM_TEMP is 'abc'", id="no-number"
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 3, ""), *rows[701:]], 701, "RM_TEMP is ''", id="empty-cell"
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 6, "inf"), *rows[701:]], 701, "FCU_MAT is 'inf'", id="infinite"
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 0, "13/01/2018 00:00"), *rows[701:]],
            701,
            "'13/01/2018' is not a date",
            id="no-date",
        ),
        pytest.param(
            lambda rows: [*rows[:700], _with(rows[700], 0, "12/30/2018 25:00"), *rows[701:]],
            701,
            "is not a time like",
            id="no-time",
        ),
    ],
)
def test_damage_is_an_error_with_file_and_line(folder, damage, line, message):
    rewrite(folder, damage(lines_of(folder)))
    with pytest.raises(DataError, match=f"{FAULT_FREE}.csv:{line}: .*{message}"):
        read(folder)


def _with(row, column, text):
    cells = row.split(",")
    cells[column] = text
    return ",".join(cells)


def test_a_missing_column_is_named_and_cannot_be_repaired(folder):
    rewrite(folder, [_without(row) for row in lines_of(folder)])
    for repair in (False, True):
        with pytest.raises(SchemaError, match=r"FaultFree.csv:1: missing columns \['FCU_CTRL'\]"):
            read(folder, repair=repair)


def _without(row):
    time, _, *rest = row.split(",")
    return ",".join([time, *rest])


def test_repair_holds_the_last_good_value_marks_it_and_counts(folder):
    header, *rows = lines_of(folder)
    _, truth, _ = read(folder)
    rows[100] = _with(rows[100], 3, "abc")
    rows[200] = rows[200][:50]
    del rows[300:304]
    rewrite(folder, [header, *rows])
    with pytest.warns(RepairWarning, match="1 x bad number held, 5 x missing minute filled, 1 x unusable line dropped"):
        times, values, quality = read(folder, repair=True)
    assert len(times) == DAYS * 1440
    assert (np.diff(times) == np.timedelta64(1, "m")).all()
    assert values[100, INDEX["RM_TEMP"]] == truth[99, INDEX["RM_TEMP"]]
    assert (values[300:304] == truth[299]).all()
    expected = np.full(quality.shape, GOOD)
    expected[100, INDEX["RM_TEMP"]] = REPAIRED  # the 28 good readings beside it stay good
    expected[[200, 300, 301, 302, 303]] = REPAIRED
    assert (quality == expected).all()
    assert (values[expected == GOOD] == truth[expected == GOOD]).all()


def test_repair_invents_nothing_in_a_long_silence_and_counts_missing_rows_at_the_end(folder):
    header, *rows = lines_of(folder)
    rewrite(folder, [header, *rows[:1000], *rows[1100:2000]])
    with pytest.warns(RepairWarning, match="100 x missing minute filled, 880 x row missing at the end"):
        times, values, quality = read(folder, repair=True)
    assert len(times) == 2000
    assert (quality[1000:1100] == MISSING).all()
    assert np.isnan(values[1000:1100]).all()


def test_a_bad_first_row_has_nothing_to_hold(folder):
    header, first, *rows = lines_of(folder)
    rewrite(folder, [header, _with(first, 3, "x"), *rows])
    with pytest.warns(RepairWarning, match=r"repaired 1 x bad number with none to hold$"):
        _, values, quality = read(folder, repair=True)
    room = INDEX["RM_TEMP"]
    assert np.isnan(values[0, room])
    assert quality[0, room] == MISSING
    assert (np.delete(quality[0], room) == GOOD).all()
    assert (quality[1] == GOOD).all()


@pytest.mark.parametrize(
    "at", [pytest.param(0, id="first"), pytest.param(700, id="middle"), pytest.param(-1, id="last")]
)
def test_repair_drops_one_mistyped_date_instead_of_inventing_a_year(folder, at):
    header, *rows = lines_of(folder)
    _, truth, _ = read(folder)
    rows[at] = rows[at].replace("/2018 ", "/2019 ")
    rewrite(folder, [header, *rows])
    with pytest.raises(DataError, match="gap of|is not after"):
        read(folder)
    with pytest.warns(RepairWarning, match="1 x line with a stray time dropped"):
        times, values, quality = read(folder, repair=True)
    lost = {0: 0, 700: 700, -1: len(rows) - 1}[at]
    kept = np.delete(np.arange(len(rows)), lost)
    inside = at == 700
    assert len(times) == len(rows) - (not inside)
    assert (values[kept] == truth[kept]).all() if inside else (values == truth[kept]).all()
    assert (quality[lost] == REPAIRED).all() if inside else (quality == GOOD).all()


def test_repair_believes_a_jump_that_the_next_line_confirms(folder):
    header, *rows = lines_of(folder)
    rewrite(folder, [header, *rows[:1000], *rows[2000:]])
    with pytest.warns(RepairWarning, match="1000 x missing minute filled"):
        times, _, quality = read(folder, repair=True)
    assert len(times) == DAYS * 1440
    assert (quality[1000:2000] == MISSING).all()
    assert (quality[2000:] == GOOD).all()


def test_quoted_fields_read_alike_on_the_fast_and_the_slow_path(folder):
    times, values, _ = read(folder)
    lines = [",".join(f'"{cell}"' for cell in line.split(",")) for line in lines_of(folder)]
    rewrite(folder, lines)
    quick, same, _ = read(folder)
    rewrite(folder, [*lines[:2000], lines[2000][:30], *lines[2001:]])  # sends the whole file to the slow path
    with pytest.warns(RepairWarning, match=r"1 x missing minute filled, 1 x unusable line dropped$"):
        slow, held, _ = read(folder, repair=True)
    assert (quick == times).all() and (slow == times).all()
    assert (same == values).all()
    assert (np.delete(held, 1999, axis=0) == np.delete(values, 1999, axis=0)).all()


def test_digits_with_underscores_are_no_number_on_either_path(folder):
    header, first, *rows = lines_of(folder)
    rewrite(folder, [header, _with(first, 3, "7_1.5"), *rows])
    with pytest.raises(DataError, match=r":2: RM_TEMP is '7_1.5', not a number"):
        read(folder)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.95])
def test_a_corrupt_zip_is_an_error_with_the_file(folder, compression, share):
    archive = folder / "FCU.zip"
    with zipfile.ZipFile(archive, "w", compression) as pack:
        pack.write(folder / f"{FAULT_FREE}.csv", f"{FAULT_FREE}.csv")
    raw = bytearray(archive.read_bytes())
    at = int(share * (len(raw) - 400))
    raw[at : at + 200] = bytes(200)
    archive.write_bytes(raw)
    for attempt in (
        lambda: list(open_lbnl(archive)[FAULT_FREE].read()),
        lambda: list(open_lbnl(archive)[FAULT_FREE].read(Repairs("x"))),
        lambda: open_lbnl(archive)[FAULT_FREE].alteration(),
    ):
        with pytest.raises(DataError, match=r"FCU\.zip.*: cannot be read"):
            attempt()


def test_a_corrupt_directory_of_a_zip_and_a_locked_member_are_errors_with_the_file(folder):
    archive = folder / "FCU.zip"
    with zipfile.ZipFile(archive, "w") as pack:
        pack.write(folder / f"{FAULT_FREE}.csv", f"{FAULT_FREE}.csv")
    good = archive.read_bytes()
    head = good.rindex(b"PK\x01\x02")
    archive.write_bytes(good[:head] + b"XXXX" + good[head + 4 :])
    with pytest.raises(DataError, match=r"FCU\.zip: cannot be read"):
        open_lbnl(archive)
    locked = bytearray(good)
    locked[head + 8] |= 1  # the flag that says encrypted
    archive.write_bytes(locked)
    with pytest.raises(DataError, match=r"FCU\.zip/FCU_FaultFree\.csv: cannot be read: .*encrypted"):
        list(open_lbnl(archive)[FAULT_FREE].read())


def test_two_files_of_one_case_are_refused_and_not_one_of_them_lost(folder):
    archive = folder / "FCU.zip"
    with zipfile.ZipFile(archive, "w") as pack:
        for zone in ("zone-01", "zone-02"):
            pack.write(folder / f"{FAULT_FREE}.csv", f"{zone}/{FAULT_FREE}.csv")
    with pytest.raises(DataError, match=r"zone-01/FCU_FaultFree.csv and .*zone-02/FCU_FaultFree.csv are both"):
        open_lbnl(archive)


def test_a_file_under_way_lies_aside_and_a_failed_one_leaves_nothing(tmp_path, simulated):
    path = tmp_path / "FCU_Mine.csv"
    path.write_text("precious")
    with pytest.raises(RuntimeError), LbnlWriter(path) as writer:
        writer.write(simulated[0].times, simulated[0].telemetry[0])
        assert path.read_text() == "precious"
        raise RuntimeError("power cut")
    assert [each.name for each in tmp_path.iterdir()] == ["FCU_Mine.csv"]
    assert path.read_text() == "precious"


def test_blank_lines_at_the_end_are_no_fault(folder):
    rewrite(folder, [*lines_of(folder), "", ""])
    assert len(read(folder)[0]) == DAYS * 1440


@settings(max_examples=40)
@given(junk=st.binary(max_size=200), at=st.integers(0, 3000))
def test_junk_bytes_anywhere_never_raise_a_foreign_error(junk, at, tmp_path_factory):
    head = ",".join(("Datetime", *NAMES)) + "\n"
    good = "".join(f"01/01/2018 00:{m:02d}," + ",".join(["1.5"] * 29) + "\n" for m in range(20))
    raw = (head + good).encode()
    raw = raw[:at] + junk + raw[at:]
    path = tmp_path_factory.mktemp("junk") / "FCU_Mine.csv"
    path.write_bytes(raw)
    try:
        list(open_lbnl(path.parent)["FCU_Mine"].read())
        list(open_lbnl(path.parent)["FCU_Mine"].read(Repairs("here")))
    except DataError as error:
        assert "FCU_Mine" in str(error)


def test_units_of_the_border():
    assert to_si(np.full(len(NAMES), 72.0))[INDEX["RM_TEMP"]] == pytest.approx(22.2222, abs=1e-4)
    assert to_si(np.full(len(NAMES), 397.9))[INDEX["FCU_DA_CFM"]] == pytest.approx(187.8, abs=0.1)
    assert parse_minute("01/01/1970 01:00") == 60


def test_digests_are_those_of_the_published_list(data_dir):
    lines = (data_dir / "lbnl_fcu" / "cases.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    assert {row[1]: row[7] for row in rows} == MD5
