"""Measures a real OpenCL device and writes its device file (docs/bench.md)."""
