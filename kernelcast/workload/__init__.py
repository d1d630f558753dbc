"""Workload files: a kernel, its launch, its arguments, for named sizes (docs/workloads.md).

`file` reads the TOML, `workload` is what it says; buffers, images and matrices become arguments
here. Imports `simcore` and the inputs.
"""
