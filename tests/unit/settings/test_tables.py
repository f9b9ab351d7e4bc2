"""The keys of the tables: paths, secrets, and the source that a site reads."""

import pytest

from graphghha.settings import read_settings
from settings_builders import SITE, problems


@pytest.mark.parametrize("table", ["", "[monitor]\n", "[monitor]\nstate_dir = 'graphghha-state'\n"])
def test_paths_count_from_the_folder_of_the_file_and_so_do_default_paths(write, tmp_path, table):
    assert read_settings(write(table + SITE)).monitor.state_dir == tmp_path / "graphghha-state"


def test_secrets_come_from_files_and_appear_nowhere(write, tmp_path):
    (tmp_path / "secret").write_text("open sesame\n")
    path = write(SITE + "username = 'me'\npassword_file = 'secret'\n")
    settings = read_settings(path)
    assert settings.secret_files() == (tmp_path / "secret",) and "sesame" not in repr(settings)
    source = settings.site[0].source_config
    assert (source.username, source.password_file) == ("me", tmp_path / "secret")
    for line in ('password = "open sesame"', 'source = "mqtt://me:open sesame@broker/x"'):
        text = "\n".join(problems(write(f'[[site]]\nname = "north"\nzones = 1\n{line}\n')))
        assert "sesame" not in text and "password_file" in text


def test_an_empty_or_missing_secret_is_a_problem(write, tmp_path):
    (tmp_path / "secret").write_text("\n")
    assert "is empty; write the secret into it" in problems(write(SITE + "username='me'\npassword_file='secret'\n"))[0]
    assert "there is no file" in problems(write(SITE + "username='me'\npassword_file='none'\n"))[0]


def test_the_address_of_a_source_may_name_the_user(write):
    (site,) = read_settings(write(SITE.replace("broker", "ada@broker"))).site
    assert site.source_config.username == "ada"
    (site,) = read_settings(write(SITE.replace("broker", "ada@broker") + "username = 'bob'\n")).site
    assert site.source_config.username == "bob"


@pytest.mark.parametrize(
    ("address", "table", "client_id"),
    [("", "", "graphghha-north"), ("?client_id=own", "", "own"), ("?client_id=own", "client_id = 'mine'\n", "mine")],
)
def test_the_client_id_of_the_table_prevails_over_that_of_the_address(write, address, table, client_id):
    (site,) = read_settings(write(SITE.replace("/plant", f"/plant{address}") + table)).site
    assert site.source_config.client_id_for(site.name) == client_id


def test_paths_in_an_address_count_from_the_folder_of_the_file_too(write, tmp_path):
    (site,) = read_settings(write(SITE.replace("/plant", "/plant?mapping=map.toml&password_file=a b"))).site
    assert site.source_config.mapping == tmp_path / "map.toml"
    assert site.source_config.password_file == tmp_path / "a b"


def test_a_parquet_file_that_cannot_be_read_for_its_zones_is_a_mistake_of_the_source(write):
    (problem,) = problems(write(SITE.replace("mqtt://broker/plant", "parquet:no.parquet").replace("zones = 2\n", "")))
    assert problem.startswith("site[0].source: ") and "no.parquet" in problem
