"""Ranks launch configurations of a kernel by predicted time (`kernelcast rank`).

`ranking` is the place to begin: by address expressions alone, or by execution. Imports the models
and `kernelcast.workload`.
"""
