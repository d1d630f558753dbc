"""Traces on disk: one Parquet file with side tables in its footer (docs/traces.md).

`parquet` is the place to begin. Imports `traces`.
"""
