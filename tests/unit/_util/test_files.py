import pytest

from graphghha._util.files import atomic_path, atomic_write


def test_content_replaces_the_file_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "a.json"
    atomic_write(path, "old")
    atomic_write(path, b"new")
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.json"
    atomic_write(path, "old")
    with pytest.raises(RuntimeError), atomic_path(path) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
