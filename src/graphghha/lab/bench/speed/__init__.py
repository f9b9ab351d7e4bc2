"""Latency, throughput and memory."""
