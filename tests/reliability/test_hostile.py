"""Hostile commands, names, files and models in the short form of their trials."""

from faults.belief import try_belief
from faults.hostile import try_hostile
from faults.strangers import try_strangers


def test_commands_names_units_and_a_flood_neither_end_nor_fill_the_monitor(failures, mosquitto):
    assert failures(try_hostile) == []


def test_what_happens_to_its_files_is_noticed_and_loses_nothing(failures):
    assert failures(try_strangers) == []


def test_forged_numbers_hostile_text_and_a_crowded_port(failures):
    assert failures(try_belief) == []
