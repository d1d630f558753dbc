"""Functions and modules of PyTorch: every launch of `torch.compile`'s code, estimated without a GPU.

`estimating` is where to begin: `estimate_module`. `tracing` takes a graph to a GPU that `absent_gpu`
stands for, `generated_code` keeps what inductor writes and runs it on the CPU, `library_calls` finds
the calls of libraries in it, and `library_kernels` are the kernels of ours that stand for those.
torch and Triton are imported when they are first used. Imports the launches of Triton and below.
"""
