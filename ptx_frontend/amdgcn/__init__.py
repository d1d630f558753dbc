"""The front end of AMD's machine code.

`code_object` reads the ELF file and what it says of each kernel, `message_pack` the form that it
says it in, `text` what LLVM prints of the code, and `lowering` makes the intermediate
representation of it. Imports `simcore`, and `sass.container`, which opens ELF files.
"""
