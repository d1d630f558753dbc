"""The JIT engine: a kernel as compiled code over warp-wide vectors (docs/engines.md).

Its stages are rooms: `analysis` of the kernel, `codegen` of LLVM IR, `runtime` of threads and
workers, `recording` of what they did; each may import those before it, and `runtime` all. Where a
piece is rare, compiled code calls the reference engine.
"""
