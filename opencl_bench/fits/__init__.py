"""Detectors and fits of the micro-benchmarks: pure functions on measured curves.

Latency plateaus, knees, granularities, throughputs. Imports NumPy and SciPy only.
"""
