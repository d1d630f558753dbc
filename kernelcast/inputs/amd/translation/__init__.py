"""Kernels of PTX as LLVM IR for AMD's GPUs, made of the intermediate representation.

Begin at `module_text`. What an opcode means as LLVM IR stands in the table of opcodes; here is what
is AMD's: where a thread is, memory, barriers, exchanges between lanes, rounding to another side.
Imports `simcore.isa` and the errors.
"""
