"""Instructions whose lanes see each other's values.

Begin at `lanes`, whose table has them all but `dpp`, an operand from another lane. `permutations`
are instructions of their own, `matrices` products of which every lane holds a part. Imports its
neighbours, the writer of instructions and `simcore.isa`.
"""
