"""Where the cycles of one SM go: trace-driven timing of its resident warps.

`timed_kernel` is what the simulator is told of a kernel, `sm_simulator` walks the warps of one SM
from issue to issue, `launch_timing` makes a launch of it.
"""
