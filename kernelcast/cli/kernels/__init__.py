"""Commands about kernels alone, whatever time they take: `init`, `run`, `mix` and `support`.

`run` is the place to begin. Imports what `kernelcast.cli` may import.
"""
