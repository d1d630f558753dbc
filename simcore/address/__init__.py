"""Kernels as address expressions, and the data volumes that follow without executing anything."""
