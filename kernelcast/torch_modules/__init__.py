"""Functions and modules of PyTorch: each launch of `torch.compile`'s code estimated without a GPU.

`estimating` is where to begin: `estimate_module`; `capturing` is for blocks of `capture`. `tracing`
takes a graph to a GPU that `absent_gpu` stands for, `generated_code` keeps what inductor writes and
runs it on the CPU, `launches` counts and estimates what it launches. `library_calls` finds the
calls of libraries, for which `library_kernels` of ours stand. torch and Triton are imported when
they are first used. Imports the launches of Triton and what is below.
"""
