import pytest


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "live.toml"
        path.write_text(text)
        return path

    return written
