"""Files of nvprof, ncu and rocprof as one `MetricTable`.

`metrics` chooses the reader by the columns of a file, not by its name. Imports nothing of
kernelcast but errors and units.
"""
