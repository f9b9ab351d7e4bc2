import hashlib
import warnings
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphghha.errors import DataError, NotFoundError
from graphghha.plants.fcu.lbnl import files as lbnl
from graphghha.plants.fcu.lbnl.files import AlteredFileWarning, LbnlFile, case_from_file_name, open_lbnl
from graphghha.plants.fcu.lbnl.rows import Repairs
from graphghha.plants.fcu.signals import NAMES
from lbnl_builders import FAULT_FREE, lines_of, read, rewrite


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
