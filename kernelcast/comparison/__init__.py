"""Estimates of before and after beside each other, and budgets that a change must keep.

`comparison` is the place to begin: pairs of estimates that `records` has read. Imports nothing of
the pipeline, for it reads what the pipeline has written.
"""
