"""`kc.check`: what a launch does wrong, whatever its result.

Begin at `check`, which gives a `CheckReport`; `suppressions` reads what is known and accepted.
Imports `simcore.checking`, `execution` and `workload`.
"""
