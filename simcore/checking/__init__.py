"""Races and other defects of a launch, found while the JIT executes it.

Begin at `checked_launch`: it runs a launch whose code records every access (`engine/jit`), hands
the records to `following`, which is compiled, and tells what was found in `findings`. `clocks` and
`barriers` decide what stamps alone cannot. Imports `isa`, `host`, `launch`, `engine` and `traces`.
"""
