"""Reads the text form of LLVM IR: tokens, types, constants, functions.

`reader` is the place to begin, `syntax` what it returns. Imports nothing of simcore but source
spans and errors.
"""
