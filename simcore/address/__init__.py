"""Kernels as address expressions, without a run (docs/rank.md).

`expression` and `kernel` are the language, `extraction` reads it off code, `boxes` and
`address_sets` count what is touched. Imports `device`, `profile` and `host`; only the room
`extraction` imports `isa` and `launch`.
"""
