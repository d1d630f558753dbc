"""Kernels of PTX as LLVM IR for AMD's GPUs: what the intermediate representation computes, again as text.

Begin at `module_text`. What an opcode means as LLVM IR stands in the table of opcodes; here is what
is AMD's: where a thread is, memory, barriers, exchanges between lanes, rounding in other directions.
Imports `simcore.isa` and the errors.
"""
