"""SASS to the intermediate representation: one function an opcode, entered in one table.

`table` is the registry, `site` what a lowering function works with, `registers` and `constants`
hold what registers and constant banks become, `flow` finds functions and basic blocks, `module`
makes kernels of a cubin. The other modules are families of opcodes. Imports `simcore`, `text` and
`container`.
"""
