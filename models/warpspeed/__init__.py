"""Model `warpspeed`: Ernst, Holzer, Hager, Knorr, Wellein 2022.

Data volumes at L1, L2 and DRAM, and which of four limiters decides. Imports `simcore` and no other
model.
"""
