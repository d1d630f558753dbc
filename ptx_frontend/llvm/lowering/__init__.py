"""Functions of LLVM IR to the intermediate representation.

`module` is the place to begin; arithmetic, memory, control flow and intrinsics have a module each.
Imports `llvm.text`, `llvm.builtins` and `simcore.isa`.
"""
