"""Commands that run other programs: `capture` and `build`.

Imports what `kernelcast.cli` may import.
"""
