"""The syntax tree to the intermediate representation: operands, names, memory, control flow.

`module` is the place to begin; each family of instructions has a module, with rooms of their own
beside this one. Imports `text`, `legal` and `simcore.isa`.
"""
