"""Attacks on the simulated fan-coil unit: catalogue, effects, schedule and labels."""
