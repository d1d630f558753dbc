"""Functions of SPIR-V as functions of LLVM IR, instruction by instruction.

`functions` holds the table of what writes which instruction. Imports `spirv.module`.
"""
