"""The memory hierarchy of a device: coalescing, banks, caches, DRAM, order of accesses."""
