"""Calls: most functions are inlined; recursive ones and pointers use a stack in local memory.

`call_lowering` is the place to begin. Imports `text` and `lowering`.
"""
