"""The intermediate representation: modules, kernels, basic blocks, instructions and operands.

All front ends make it, all engines run it, and nothing in it belongs to a source language except
the mnemonic. Imports `opcodes`, `matrix` and the scalar types of `isa`.
"""
