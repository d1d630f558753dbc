"""Runs compiled code: threads over pieces of the grid, memory of workers, faults as errors.

`run` is the place to begin, `job` one launch, `worker` one thread of it. Imports all rooms of
`jit`, and the reference engine for what compiled code hands back.
"""
