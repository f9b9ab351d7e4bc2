"""Fault injection: trials that show what the monitor loses, repeats or gets wrong when its surroundings fail."""
