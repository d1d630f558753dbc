"""What caches hold between launches: it is kept, and launches begin with it.

`cache_contents` keeps the L2 of each device, `warm_caches` simulates launches that find something
there. Imports `memory`.
"""
