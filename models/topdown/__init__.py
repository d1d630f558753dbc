"""TopDown analysis of GPU kernels: Saiz, bachelor's thesis, University of Cantabria, 2021.

An SM could issue IPC_MAX warp instructions a cycle. What it issued usefully is retired; the rest
was lost to divergence or to stalls of the front end or the back end.
"""

from kernelcast.models.topdown.analysis import (
    IssueSlots,
    topdown_from_counters,
    topdown_from_stalls,
)
from kernelcast.models.topdown.application import (
    ApplicationTopDown,
    Invocation,
    KernelTopDown,
)
from kernelcast.models.topdown.ipc_max import ipc_max_of_device, issue_width
from kernelcast.models.topdown.parts import LEVELS, Part, TopDown
from kernelcast.models.topdown.weighting import weighted_mean

__all__ = [
    "LEVELS",
    "ApplicationTopDown",
    "Invocation",
    "IssueSlots",
    "KernelTopDown",
    "Part",
    "TopDown",
    "ipc_max_of_device",
    "issue_width",
    "topdown_from_counters",
    "topdown_from_stalls",
    "weighted_mean",
]
