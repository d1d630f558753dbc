"""Products of matrices and fragments as LLVM IR for the JIT engine.

Sums have the same bits as those of `products`, its oracle. Imports `isa.matrix`, `numerics` and the
lane code of `opcodes.llvm`.
"""
