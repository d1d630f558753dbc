"""OpenCL C by clang: to LLVM IR, to PTX, and to machine code of AMD's GPUs.

Begin at `source`; `ptx` and `amd_code` add definitions of the built-in functions, those of
`builtins`, which back ends come without. `program` takes programs of pyopencl. Imports what
`kernelcast.inputs` may import.
"""
