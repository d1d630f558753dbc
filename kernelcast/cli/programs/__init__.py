"""Commands that run other programs: `capture` and `build`."""
