"""Timing of a launch, with utilisation and hot lines, from one simulated SM.

`launch_timing` is the place to begin, `sm_simulator` is one SM as an object. Imports `timing.walk`,
`timing.kernel`, `device` and `host`.
"""
