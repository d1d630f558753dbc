"""Triton kernels of our own, timed by `measure_triton.py`.

`kernels` holds them, `cases` their sizes and configurations. Triton must be installed.
"""
