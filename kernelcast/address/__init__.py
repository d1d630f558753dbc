"""Address expressions as users meet them: files, text, extraction from workloads, layer conditions.

The arithmetic itself is in `simcore.address`. Imports `simcore` and `kernelcast.workload`.
"""
