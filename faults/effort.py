"""How often and how long each fault is injected."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """Repetitions, durations and building sizes of the trials."""

    zones: int = 48
    kills: int = 100
    state_kills: int = 60  # rows of the operator scenario after which the process is killed
    outages_s: tuple[float, ...] = (1.0, 60.0)
    outage_zones: int = 12
    keepalive_s: int = 20  # a dead connection is noticed after one and a half of these
    disorders: int = 20
    fuzz_messages: int = 100_000
    flips: int = 2_000
    cut_every: int = 1  # bytes between two cuts of the last commit
    hostile_commands: int = 1_000
    big_messages: int = 2_000
    flood_s: float = 120.0
    journal_events: int = 500_000
    journal_mb: int = 2_000
    locked_s: float = 45.0
    many_commands: int = 2_000
    model_flips: int = 4  # of each file
    hostile_events: int = 20_000
    bomb_mb: int = 5_000
    odd_broker_s: float = 20.0
    hostile_files: int = 300
    long_line_mb: int = 600
    columns: int = 1_000_000
    long_name_mb: int = 400
    rows_of_one_time: int = 10_000_000
    salvage_kills: int = 8
    stored_hours: int = 24
    soak_minutes: float = 10.0
    soak_speed: float = 100.0  # times real time


FULL = Effort()
QUICK = Effort(
    zones=3,
    kills=5,
    state_kills=8,
    outages_s=(1.0,),
    outage_zones=2,
    keepalive_s=1,
    disorders=5,
    fuzz_messages=3_000,
    flips=60,
    cut_every=997,
    hostile_commands=60,
    big_messages=20,
    flood_s=4.0,
    journal_events=2_000,
    journal_mb=20,
    locked_s=1.5,
    many_commands=30,
    model_flips=1,
    hostile_events=200,
    bomb_mb=300,
    odd_broker_s=3.0,
    hostile_files=40,
    long_line_mb=20,
    columns=20_000,
    long_name_mb=80,
    rows_of_one_time=200_000,
    salvage_kills=3,
    stored_hours=8,
    soak_minutes=0.1,
    soak_speed=1_200.0,
)
