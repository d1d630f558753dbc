"""Milliseconds of processor time that the volumes of one configuration take on one device.

`python benchmarks/address_volumes.py` prints the median over the 56 shapes of thread blocks of 1024
threads and the 49 of 512 (Ernst et al. 2022, equation 6: z at most 64), star stencil of range 4.
"""

from __future__ import annotations

import statistics
import sys
import time

from hit_rates import star

from kernelcast.simcore.address.volumes import volumes
from kernelcast.simcore.device_file import load_device

DEVICE = "a100-40gb"
_TARGET_MS = 25.0
_LARGEST_Z = 6


def shapes(threads: int) -> list[tuple[int, int, int]]:
    """Powers of two with that product."""
    bits = threads.bit_length() - 1
    return [
        (1 << x, 1 << y, 1 << (bits - x - y))
        for x in range(bits + 1)
        for y in range(bits + 1 - x)
        if bits - x - y <= _LARGEST_Z
    ]


def main() -> int:
    device, kernel = load_device(DEVICE), star(640, 512, 512)
    volumes(kernel, device)
    took = []
    for block in (*shapes(1024), *shapes(512)):
        begin = time.process_time()
        volumes(kernel.with_block(*block), device)
        took.append(1e3 * (time.process_time() - begin))
    median = statistics.median(took)
    row = f"{len(took)} configurations: median {median:.1f} ms, at most {max(took):.1f} ms"
    sys.stdout.write(row + "\n")
    return int(median > _TARGET_MS)


if __name__ == "__main__":
    sys.exit(main())
