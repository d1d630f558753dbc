"""Machine code of NVIDIA's GPUs: the tools that make and show it, and kernels of cubins.

The user installs the tools; nothing of them is shipped. `tools` finds the assembler and the
disassembler, `assembler` and `disassembler` run them, `cubins` makes modules of what they give,
`sources` gives PTX as the machine code of each architecture, `triton_stages` has Triton take it.
Imports `ptx_frontend`.
"""
