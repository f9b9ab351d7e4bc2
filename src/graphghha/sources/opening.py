"""Opens a source from its settings, or returns the zones that it states before it is opened."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from graphghha.errors import SchemaError
from graphghha.plants import Plant, Points, load_plant
from graphghha.sources.base import Source
from graphghha.sources.batch_builder import BatchBuilder
from graphghha.sources.config import FileConfig, MqttConfig, SimulatedConfig, SourceConfig, StdinConfig
from graphghha.sources.mapping import Mapper, Rule, Rules, read_mapping
from graphghha.sources.statistics import SourceStatistics
from graphghha.sources.stdin import LineSource


def open_source(
    config: SourceConfig,
    *,
    site: str,
    points: Sequence[str],
    plant: Plant,
    is_listener: bool = False,
    statistics: SourceStatistics | None = None,
) -> Source:
    """Open the source that feeds these points of a site.

    A listener reads beside the monitor: it leaves the broker's session and the messages in it alone. `statistics`
    collects what arrives, for a check.
    """
    table = Points.from_names(plant, points)
    rules = read_mapping(config.mapping, table) if config.mapping else _own_rules(plant)
    mapper = Mapper(table, rules, prefix=config.prefix if isinstance(config, MqttConfig) else "")
    mapper.statistics = statistics
    match config:
        case SimulatedConfig():
            from graphghha.sources.simulated import simulated_source

            return simulated_source(config, site, mapper)
        case FileConfig():
            from graphghha.sources.files import file_source

            return file_source(config, site, mapper, plant, {**(rules.table if rules else {}), **config.table})
        case StdinConfig():
            return LineSource(sys.stdin.buffer, BatchBuilder(site, mapper, max_ahead_s=config.max_ahead_s))
        case MqttConfig():
            from graphghha.sources.mqtt import MqttSource

            client_id = config.client_id_for(site) + ("-check" if is_listener else "")
            config = replace(config, client_id=client_id, is_listener=is_listener)
            return MqttSource(config, BatchBuilder(site, mapper))


def _own_rules(plant: Plant) -> Rules | None:
    """Return the names that a plant of the user's own gives to its columns."""
    if not plant.is_own:
        return None
    return Rules(rules=tuple(Rule(name=report.column, point=node) for node, report in plant.reporting.items()))


def stated_zones(config: SourceConfig) -> tuple[str, ...] | None:
    """Return the zones that a source states before it is opened, or None if only its readings can show them."""
    if isinstance(config, SimulatedConfig):
        graph = load_plant(config.plant).template.replicate(config.zones)
        return graph.zone_names
    if isinstance(config, FileConfig) and config.format == "parquet" and not config.path.is_dir():
        from graphghha.plants.telemetry import TelemetryFile

        try:
            return TelemetryFile(config.path).meta.zones
        except SchemaError:
            return None
    return None
