"""What kernels come from: PTX, CUDA C++, OpenCL, fat binaries, Triton, Numba (docs/inputs.md).

`source_file` is the place to begin: a file to kernels, whatever it is. Imports `ptx_frontend` and
`simcore`.
"""
