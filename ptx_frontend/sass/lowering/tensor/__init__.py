"""Opcodes of tensor units, and those that move their tiles.

Each module enters its opcodes in the table. Imports `site`, `table` and `memory_access`.
"""
