"""`kernelcast validate`: predicted against measured, one module a suite.

`command` is the place to begin. Imports what `kernelcast.cli` may import.
"""
