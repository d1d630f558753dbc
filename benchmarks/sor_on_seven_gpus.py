"""How long the full-size SOR example takes: executed once, simulated and estimated on seven GPUs.

Run `python benchmarks/sor_on_seven_gpus.py [REPEATS]`; prints medians and the peak memory.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from pathlib import Path

import kernelcast as kc
from kernelcast.validation.thesis import thesis_devices

WORKLOAD = Path(__file__).parents[1] / "examples" / "sor" / "sor.toml"


def main(repeats: int) -> None:
    """Times the whole example and prints medians and the memory in use."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        trace = kc.load_workload(WORKLOAD).run(devices=thesis_devices())
        for profile in trace.profiles(thesis_devices()):
            kc.estimate(profile)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = (
        f"estimate  {statistics.median(seconds):6.1f} s  for {len(thesis_devices())} GPUs",
        f"memory    {peak / 1e9:6.2f} GB at most",
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
