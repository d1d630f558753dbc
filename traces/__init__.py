"""What executions and profilers recorded, as plain tables that know nothing of the rest.

`trace` is the table of a run; `stored` keeps it on disk, `accelsim` and `profilers` read what other
tools wrote. Imports nothing of kernelcast but errors and units.
"""
