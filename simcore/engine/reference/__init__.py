"""The reference engine: NumPy over batches of thread blocks, obviously right rather than fast.

`run` is its loop; `lanes` holds registers, `memory_access` does loads and stores, `barriers` and
their kin keep threads waiting. Imports `isa`, `launch`, `engine.rules`, `engine.recording`
and `host`.
"""
