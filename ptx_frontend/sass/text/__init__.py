"""Statements of SASS: what `nvdisasm` prints and the control bits that only the encoding has.

`statements` reads a listing, `operands` one operand, `control` the bits that schedule an
instruction. Nothing here knows what an opcode means. Imports nothing but errors.
"""
