"""Opcodes that compute lane by lane: integers, bits, floating point, conversions and moves.

Each module enters its opcodes in the table. Imports `site`, `table` and what statements share.
"""
