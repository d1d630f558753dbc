"""Machine code of AMD's GPUs: what is read of code objects.

`code_object` reads the ELF file and what it says of each kernel; `message_pack` the form that it
says it in. Imports errors and `sass.container`, which opens ELF files.
"""
