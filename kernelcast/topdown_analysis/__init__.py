"""The TopDown analysis of what was measured by a profiler, and of what is simulated here.

`combined` is the one call for both. Imports `models.topdown` and `simcore`.
"""
