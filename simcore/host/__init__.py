"""The CPU that kernelcast itself runs on: LLVM, numba, child processes, files that are kept.

`llvm` drives LLVM, `compiled` numba; `branch_hints` and `noinline` tell it what Python cannot say.
Imports nothing else of simcore.
"""
