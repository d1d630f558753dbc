"""The CPU that kernelcast itself runs on: LLVM, numba, child processes, files that are kept.

`llvm` drives LLVM; `compiled` drives numba, and tells it what Python cannot say.
Imports nothing else of simcore.
"""
