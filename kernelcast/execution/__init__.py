"""Runs kernels for users: modules that `load` returns, traces, samples of large launches.

`runnable` is the place to begin. Imports `simcore`, `ptx_frontend` and `traces`.
"""
