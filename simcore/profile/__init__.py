"""What a profiler would report of one kernel on one device, simulated or measured.

`profile` holds the quantities, `profiler` makes them from a trace, `derived` lets models make their
own, the metric modules give them their vendors' names. Imports
`timing.kernel`, `memory`, `device`, `launch`, `isa` and `host`.
"""
