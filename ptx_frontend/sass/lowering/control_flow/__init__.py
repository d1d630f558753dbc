"""Opcodes that say what runs next and what lanes, warps and thread blocks do together.

Each module enters its opcodes in the table. Imports `site`, `table` and `flow`.
"""
