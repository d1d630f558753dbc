"""The instruction set: scalar types here; opcodes, representation and analyses in rooms.

`ir` is what front ends make and engines run; `opcodes` says what each instruction computes;
`matrix` does so for tensor units; `numerics` holds the arithmetic that NumPy lacks; `analysis`
proves facts about kernels without running them. The types
here import nothing of simcore; what the rooms import, each says itself.
"""
