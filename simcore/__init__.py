"""The core: instruction set, engines, memory hierarchy, timing, devices, profiles.

The rooms follow the pipeline: `isa` and `launch` say what runs, `engine` runs it, `memory`,
`sampling` and `timing` simulate a `device`, and `profile` sums up; `address` needs no run, `host`
is the CPU underneath. Everything here may import `kernelcast.traces`, and each room those below it:
`tests/test_architecture.py` lists them.
"""
