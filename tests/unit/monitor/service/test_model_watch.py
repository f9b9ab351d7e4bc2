"""New models are noticed once their files have stopped changing."""

import os
import shutil

from graphghha.monitor.service.model_watch import ModelWatch


def test_a_model_is_new_once_its_files_have_stopped_changing(tmp_path):
    (model := tmp_path / "model").mkdir()
    (model / "name").write_text("toy@1")
    (current := tmp_path / "current").symlink_to(model)
    watch = ModelWatch({"office": current})
    assert watch.changed() == {}
    shutil.copytree(model, tmp_path / "next")
    (tmp_path / "link").symlink_to(tmp_path / "next")
    os.replace(tmp_path / "link", current)
    assert watch.changed() == {}, "it may still be copied"
    assert watch.changed() == {"office": current} and watch.changed() == {}
    shutil.rmtree(tmp_path / "next")
    watch.changed()
    assert watch.changed() == {"office": current}, "a model that is gone is tried, refused and reported"
