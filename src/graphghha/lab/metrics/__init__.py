"""Figures computed from recorded scores: per node, per event, per probability."""
