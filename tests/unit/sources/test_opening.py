import pytest

from graphghha.errors import ConfigError, DataError
from graphghha.sources import FileConfig, MqttConfig, SimulatedConfig, StdinConfig, open_source, stated_zones
from source_builders import PLANT, POINTS


def test_only_a_simulation_and_our_own_files_state_their_zones(tmp_path):
    assert stated_zones(SimulatedConfig(plant="fcu", zones=2)) == ("zone-01", "zone-02")
    for config in (FileConfig(path=tmp_path / "a.csv", format="csv"), StdinConfig(), MqttConfig(host="broker")):
        assert stated_zones(config) is None
    with pytest.raises(DataError, match="absent.parquet"):
        stated_zones(FileConfig(path=tmp_path / "absent.parquet", format="parquet"))


def test_the_mapping_of_any_source_is_read_when_it_is_opened(tmp_path):
    mapping = tmp_path / "map.toml"
    mapping.write_text('[[map]]\ntopic = "a"\npoint = "zone-01/RM_TMP"\n')
    for config in (SimulatedConfig(plant="fcu", mapping=mapping), StdinConfig(mapping=mapping)):
        with pytest.raises(ConfigError, match="did you mean 'zone-01/RM_TEMP'"):
            open_source(config, site="site", points=POINTS, plant=PLANT)
