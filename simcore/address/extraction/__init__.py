"""Address expressions of a kernel that is there as code, by symbolic execution.

`extraction` is the place to begin; conditions, loops, values and the state of threads have a module
each. Imports `address`, `isa` and `launch`.
"""
