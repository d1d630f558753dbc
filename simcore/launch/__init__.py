"""What runs: grid, thread block and arguments, with the memory that a kernel sees.

Buffers, images, textures and tensor maps become bytes at virtual addresses here. Imports `isa`
and the limits of `host`.
"""
