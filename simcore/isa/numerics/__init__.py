"""Arithmetic that NumPy lacks: narrow formats, fused multiply-add, packed numbers.

Much of it is written once and computed twice, on arrays and as LLVM IR through `lane_code`. Imports
`host` and the scalar types of `isa`.
"""
