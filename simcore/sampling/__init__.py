"""Traffic of a launch from a part of its thread blocks, with the error that this makes.

`plan` chooses the thread blocks, `run` simulates them, `extrapolation` says what all of them would
do. Imports `memory`, `device`, `isa` and `host`.
"""
