"""The sets of a cache as they lie in the host's memory, which simulations of caches wait for.

`sectors` says which sectors of a line are there, `way_search` finds a line among the ways of its
set. Imports `host`.
"""
