"""When things happen on a GPU: streams, copies and launches of a program in time.

`timeline` is the place to begin. Imports `simcore.device`.
"""
