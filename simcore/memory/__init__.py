"""The memory hierarchy of a device: coalescing, banks, caches, DRAM, order of accesses.

`simulated_memory` is all of it, `traversal` the compiled way of accesses through the levels, in two
`passes`. What may
be exchanged has a place each: `replacement` decides victims (`replacement.role` says what a policy
is), `coalescer` and `segments` make sectors or segments of the lanes of an access
(`coalesce_into`), and the `WorkDistributor` of `schedule` places thread blocks on SMs. Imports
`device` and `host`.
"""
