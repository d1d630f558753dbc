"""Model `component-throughput`: Zhang and Owens, HPCA 2011.

Three components (instruction pipeline, shared and global memory) over barrier stages; `model` is
the place to begin. Imports `simcore` and no other model.
"""
