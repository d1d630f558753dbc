"""Columns of a trace from what an engine does: accesses, patterns, paths of warps.

The reference engine calls it instruction by instruction, compiled code through `jit.recording`.
Imports `isa` and `traces`.
"""
