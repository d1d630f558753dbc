"""What the timing simulator is told of a kernel: pipelines, registers, waits, memory levels.

`from_trace` makes it from a trace and a device; the other modules rewrite it. Imports `host`,
`device`, `memory` and `isa`.
"""
