"""What was executed, simulated and estimated before, kept between processes (docs/store.md).

An entry is called by a hash of all that it is a function of, the sources of kernelcast included, so
that nothing is ever out of date; `launches` says what that is for a launch, `estimates` for a
profile and an estimate. `results` is the folder of entries. Imports `models`, `simcore` and
`traces`.
"""
