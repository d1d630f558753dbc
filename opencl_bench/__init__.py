"""Measures a real OpenCL device and writes its device file; empty until the benchmarks arrive."""
