"""From one simulated SM to the launch: steady stretches, unequal shares, utilisation, hot lines.

`launch_timing` is the place to begin, `sm_simulator` is one SM as an object. Imports `timing.walk`
and `timing.kernel`.
"""
