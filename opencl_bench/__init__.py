"""Measures a real OpenCL device and writes its device file (docs/bench.md).

`session` runs the benchmarks of `compute` and `memory`, `fits` reads their curves, `device_file`
writes what they say. Imports `simcore`, and `models` for the curves whose parameters it fits.
"""
