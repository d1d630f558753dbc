"""Cubins, the ELF files that hold SASS, as plain values.

`cubin` reads sections, symbols and relocations, `kernel_info` what `.nv.info` says of a kernel.
Both know nothing of instructions. Imports errors and `elftools`.
"""
