"""CUDA C++ to PTX by NVRTC, without host code where NVRTC cannot read it.

`cuda_source` is the place to begin. Imports what `kernelcast.inputs` may import.
"""
