"""Benchmarks: one module per table or figure."""
