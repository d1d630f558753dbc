"""Kernel traces of Accel-Sim's NVBit tracer as traces of kernelcast.

`reader` is the place to begin. Imports `traces`.
"""
