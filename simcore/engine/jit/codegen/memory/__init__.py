"""Loads, stores and atomics of a warp as LLVM IR: bounds checks, fast paths, records of accesses.

One district with `codegen`: each may import the other. `access_checks` decides whether an address
may be touched at all.
"""
