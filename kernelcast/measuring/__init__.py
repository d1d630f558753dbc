"""What the tools that time the validation workloads on real devices have in common.

An `accelerator` is the little that a device must do; `measurement` times one case on it. Imports
`kernelcast.workload` and `simcore`.
"""
