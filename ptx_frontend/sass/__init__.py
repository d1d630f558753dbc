"""The front end of SASS, the machine code of NVIDIA's GPUs.

`container` reads cubins, `text` what a disassembler says of them, `lowering` makes the
intermediate representation of it, and `passes` bring that into the form which engines run fast.
Imports `simcore`.
"""
