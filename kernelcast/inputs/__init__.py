"""What kernels come from: PTX, CUDA C++, fat binaries, Triton and Numba (docs/inputs.md)."""
