"""`kc.check`: what a launch does wrong, whatever its result.

Begin at `check`, which gives a `CheckReport`; `program` checks each launch of a program;
`suppressions` reads what is known and accepted. Imports `simcore.checking`, `execution`, `workload`
and `program_capture`.
"""
