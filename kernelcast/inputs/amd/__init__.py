"""Kernels for AMD's GPUs.

`hip_source` compiles HIP by clang; `headers/hip` is what device code includes in place of ROCm's.
Imports `kernelcast.inputs` and `simcore`.
"""
