"""The memory hierarchy of a device: coalescing, banks, caches, DRAM, order of accesses.

`device_memory` is all of it, `walk` the compiled way of an access through the levels, `replacement`
decides victims. Imports `device` and `host`.
"""
