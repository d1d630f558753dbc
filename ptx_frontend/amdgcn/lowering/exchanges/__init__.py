"""Instructions whose lanes see each other's values.

`dpp` is an operand from another lane, `permutations` and `lanes` are instructions of their own,
`matrices` products of which every lane holds a part.
"""
