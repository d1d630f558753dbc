"""Passes over the intermediate representation of machine code, which engines then run fast.

`register_pairs` deletes copies between 64-bit registers and their halves, `live_ranges` gives each
value of a register that the assembler used again a register of its own, `dead_parts` deletes parts
whose results nobody reads, `whole_pairs` keeps 64-bit values whole from basic block to basic block,
`waiting_loads` finds loads that wait for other threads, `pipeline` puts them in order. Imports
`simcore`.
"""
