"""Detectors and fits of the micro-benchmarks: pure functions on measured curves."""
