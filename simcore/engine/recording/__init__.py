"""From what an engine does to the columns of a trace: accesses, patterns, paths of warps.

The reference engine calls it instruction by instruction, native code through `jit.recording`.
Imports `isa` and `traces`.
"""
