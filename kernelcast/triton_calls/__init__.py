"""Launches of Triton kernels as they are written: run, estimated and tuned without a GPU.

`driver` stands behind Triton's driver interface and makes launches of what Triton compiled;
`session` is where to begin: `capture` and `estimate_call`. `tuning` ranks configurations, each in a
`trial` that `workers` predict. Triton itself is imported when it is first used. Imports the
inputs, the execution and the API.
"""
