"""The JIT engine: a kernel as native code over warp-wide vectors (docs/engines.md)."""
