"""Chains of dependent instructions, whose time tells an instruction's latency.

`operations` lists the chains, `ptx` writes their kernels, `timing` runs them on a device and fits
cycles to lengths, `machine` tells which machine instructions a chain really has. Begin with
`timing`. Imports `measuring`, `inputs.native` and `simcore`.
"""
