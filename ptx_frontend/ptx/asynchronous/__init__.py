"""Asynchronous copies, copies in bulk, mbarriers and clusters.

`roots` says which module lowers a mnemonic. Imports `legal` and `lowering`.
"""
