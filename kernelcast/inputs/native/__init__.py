"""Machine code of NVIDIA's GPUs: the tools that make and show it, and kernels of cubins.

`tools` finds the assembler and the disassembler that the user has installed, `assembler` runs the
one and `disassembler` the other, `cubins` makes modules of what they give.
"""
