"""Model `interval`: where the cycles go, from a simulation of the warps of one SM.

`model` is the place to begin, `advice` says what would help, `bound` serves profiles without paths.
Imports `simcore` and no other model.
"""
