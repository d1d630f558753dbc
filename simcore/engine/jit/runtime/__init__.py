"""Runs compiled code: threads over pieces of the grid, memory of workers, faults as errors.

`run` is the place to begin, `job` one launch, `worker` one thread of it. Imports the rooms
`analysis`, `codegen` and `recording` of `jit`; those of `engine`, of which `reference` does what
compiled code hands back and `rules` says what is allowed; `isa`, `launch` and `host`.
"""
