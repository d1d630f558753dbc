"""What every assembler does to a source form before it runs: a static pre-pass for timing.

One pass a module: `fold_addresses`, `predicate_branches`, `unroll_loops`, `share_invariants`,
`hoist_loads`. What is executed stays the source. May import the instruction set and its analyses.
"""
