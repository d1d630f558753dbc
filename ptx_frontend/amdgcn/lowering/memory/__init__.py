"""Instructions of AMD's machine code that reach memory.

Begin at `accesses`, whose table has them all; `addresses` says where they find it. `atomics` and
`narrow_accesses` are the kinds that need more. Imports its neighbours and `simcore.isa`.
"""
