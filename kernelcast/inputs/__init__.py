"""What kernels come from: PTX, CUDA C++, OpenCL, fat binaries, Triton, Numba (docs/inputs.md)."""
