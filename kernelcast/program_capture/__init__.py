"""Unmodified programs: their launches executed, estimated, and put into a time line.

`client` is the C that takes the place of the CUDA libraries in the program; all else is the server.
May import everything but `kernelcast.cli`.
"""
