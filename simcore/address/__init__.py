"""Kernels as address expressions, and data volumes without a run (docs/rank.md).

`expression` and `kernel` are the language, `extraction` reads it off code, `volumes` counts sectors
at each level of the memory. Imports `isa`, `launch`, `device` and `profile`.
"""
