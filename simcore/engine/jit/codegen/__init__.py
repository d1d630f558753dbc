"""Writes the warp function and the loop over thread blocks as LLVM IR.

`warp_function` is the place to begin; control flow, barriers, exchanges and counters have a module
each, loads and stores the room `memory`. Imports `jit.analysis`, `isa` with its LLVM
twins, `launch`, `engine.rules` and `host`.
"""
