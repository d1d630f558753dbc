"""Data volumes at each level of the memory, from boxes of addresses (Ernst et al. 2022, section 4).

`volumes` is the place to begin: between registers and L1, L1 and L2, L2 and DRAM. Imports `address`
and `device`.
"""
