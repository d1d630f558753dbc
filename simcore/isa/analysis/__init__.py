"""Facts about a kernel that hold without running it: control flow, liveness, uniformity.

Each analysis is a function of a kernel and is made once for it (`kernel_analysis`). Imports the
other rooms of `isa`, and `host` for its deadline.
"""
