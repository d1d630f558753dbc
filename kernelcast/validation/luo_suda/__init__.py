"""The benchmarks and equations of Luo and Suda, executed.

`proportions` compares kernels, `periods` equations. Imports what `kernelcast.validation` may
import.
"""
