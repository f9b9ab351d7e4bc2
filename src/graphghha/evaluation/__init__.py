"""Honest figures: node scores, events, calibration, alert budgets."""
