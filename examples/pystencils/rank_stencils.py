"""Ranks thread blocks of kernels of pystencils on an A100, before any of them is compiled.

python rank_stencils.py star25 [device ...]
"""

from __future__ import annotations

import sys

import stencils
from rich.console import Console

import kernelcast as kc
from kernelcast.report.rank import rank_table

# the domain of the paper, and threads of a thread block: lattice Boltzmann needs more registers
KERNELS = {
    "star25": (stencils.star25, (640, 512, 512), "product=1024", 32),
    "average7": (stencils.average7, (640, 512, 512), "product=1024", 32),
    "interface_tracking": (stencils.interface_tracking, (256, 256, 256), "product=512", 128),
}


def main(name: str, *devices: str) -> None:
    """Ranks the shapes of one kernel and prints the ten best."""
    make, domain, shapes, registers = KERNELS[name]
    kernel = kc.from_pystencils(make(*domain), registers=registers)
    rankings = kc.rank(kernel, devices or ("a100-40gb",), block=shapes, folding="none,2y,2z")
    Console(width=120).print(rank_table(rankings, top=10))


if __name__ == "__main__":
    main(*sys.argv[1:])
