"""The CPU that kernelcast itself runs on: LLVM, numba, child processes, files that are kept.

`llvm` and `branch_hints` are the modules that import llvmlite, `compiled` the one that calls numba.
Imports nothing else of simcore.
"""
