"""Kernels for AMD's GPUs.

`hip_source` compiles HIP by clang; `headers/hip` is what device code includes in place of ROCm's.
`generated_code` makes machine code of LLVM IR for each architecture, with what `library` defines.
`translated_ptx` makes such IR of PTX, by what is in `translation`.
Imports `kernelcast.inputs`, `kernelcast.execution`, `ptx_frontend` and `simcore`.
"""
