"""A GPU as data: facts, the files that hold them, and checks that refuse what cannot be.

`device` holds the facts, `file` reads them from the TOML files in `simcore/devices`, and `changed`
makes another GPU of one. Imports the scalar types of `isa` and nothing else of simcore.
"""
