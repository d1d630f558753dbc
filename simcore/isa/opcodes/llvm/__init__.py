"""What opcodes compute, written as LLVM IR for the JIT engine: a twin of each module in `opcodes`.

The code works on all lanes of a warp at once, one vector a register. Imports `opcodes`, `numerics`
and the scalar types.
"""
