"""What compiled code recorded, as rows of a trace: access records, counters, batches.

Compiled with numba, ring by ring. Imports `jit.codegen` for the layout of records, `isa`, and
`host`.
"""
