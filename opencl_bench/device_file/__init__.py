"""What a session found, as a complete device file.

`record` is the place to begin; sections, observations and parameters of models have a module each.
Imports `opencl_bench` and `simcore.device`.
"""
