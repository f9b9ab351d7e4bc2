from contextlib import closing

import pytest

from graphghha._util.utf8_file import Utf8File

TEXT = "Zählerstand;20 °C\n".encode() * 20


def read(path, size):
    with closing(Utf8File(path)) as file:
        parts = []
        while part := file.read(size):
            assert size < 0 or len(part) <= size
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("size", [-1, 5, 6, 7, 64])
def test_utf8_is_read_as_it_is_and_other_bytes_as_question_marks(size, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(TEXT + b"caf\xe9,\xff\n" + TEXT)
    assert read(path, size) == TEXT + b"caf?,?\n" + TEXT
