"""Where the cycles of one SM go: trace-driven timing of its resident warps (docs/timing.md).

`kernel` is what the simulator is told, `walk` goes from issue to issue, `launch` makes the time of
a launch of it; each imports those before it. Imports `device`, `memory` and `host`.
"""
