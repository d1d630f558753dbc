"""What every assembler does to a source form before it runs: a static pre-pass for timing.

One pass a module: `fold_addresses`, `predicate_branches`, `unroll_loops`, `share_invariants`,
`hoist_loads`. `static_schedule` puts them together, `register_estimate` counts what they take;
begin there. What is executed stays the source. May import `host`, `isa`, `opcodes`, `ir` and
`analysis`.
"""
