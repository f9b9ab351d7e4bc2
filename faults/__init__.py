"""Faults on purpose: what the monitor loses, tells twice or gets wrong when things around it fail."""
