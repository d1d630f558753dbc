"""Opcodes that reach memory: accesses, atomics, copies and textures.

Each module enters its opcodes in the table. Imports `site`, `table` and `control_flow`.
"""
