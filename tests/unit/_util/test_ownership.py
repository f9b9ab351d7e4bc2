"""Which files others could have written."""

import os

import pytest

from graphghha._util.ownership import distrust

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cache" / "kernel.so"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"")
    path.chmod(0o600)
    return path


def test_what_only_we_can_write_is_trusted(file):
    assert distrust(file) is None


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not(file, mode):
    file.chmod(mode)
    assert "kernel.so may be written by other users" in distrust(file)


def test_nor_is_one_in_a_folder_that_others_may_write(file):
    file.parent.chmod(0o777)
    assert "cache may be written by other users" in distrust(file)
    file.parent.chmod(0o1777)
    assert distrust(file) is None, "with the sticky bit nobody else can exchange it"


def test_a_link_is_as_good_as_what_it_leads_to(file, tmp_path):
    link = tmp_path / "link.so"
    link.symlink_to(file)
    assert distrust(link) is None
    file.chmod(0o666)
    assert "may be written by other users" in distrust(link)


def test_what_cannot_be_examined_is_not_trusted(tmp_path):
    assert "cannot be examined" in distrust(tmp_path / "none")


@as_root
def test_a_file_of_another_user_is_not_trusted(file):
    os.chown(file, 65534, 65534)
    assert "kernel.so belongs to another user" in distrust(file)
