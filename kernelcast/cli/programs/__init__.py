"""Commands that run other programs: `capture` and `build`.

`capture` is the place to begin. Imports what `kernelcast.cli` may import.
"""
