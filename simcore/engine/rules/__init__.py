"""What both engines obey: the runtime library of kernels, copy requests, words for faults.

Nothing here knows how an engine keeps its registers. Imports `isa`, `launch` and `host`.
"""
