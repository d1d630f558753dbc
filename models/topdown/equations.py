"""Equations 4.1 to 4.14 of Saiz (bachelor's thesis, Cantabria 2021), under the thesis's symbols.

IPC are warp instructions a cycle and SM; Eff_warp is 0 to 1; STALL_x are percent of all stalls.
Names in capitals of the thesis are lower case here.
"""

from __future__ import annotations

__all__ = [
    "ipc_branch",
    "ipc_divergence",
    "ipc_max",
    "ipc_of_stall",
    "ipc_replay",
    "ipc_retire",
    "ipc_stall",
    "stall_backend",
    "stall_frontend",
]


def ipc_max(ipc_stall: float, ipc_divergence: float, ipc_retire: float) -> float:
    """4.1: what the three parts of the first level add up to."""
    return ipc_stall + ipc_divergence + ipc_retire


def ipc_retire(ipc: float, eff_warp: float) -> float:
    """4.2: instructions as if all of their threads were active."""
    return ipc * eff_warp


def ipc_branch(ipc: float, eff_warp: float) -> float:
    """4.3: lost to threads that are not active."""
    return ipc * (1 - eff_warp)


def ipc_replay(ipc_issued: float, ipc: float) -> float:
    """4.4: issued more than once."""
    return ipc_issued - ipc


def ipc_divergence(ipc_branch: float, ipc_replay: float) -> float:
    """Equation 4.5."""
    return ipc_branch + ipc_replay


def stall_frontend(stall_fetch: float, stall_decode: float) -> float:
    """Equation 4.6."""
    return stall_fetch + stall_decode


def ipc_stall(ipc_max: float, ipc_divergence: float, ipc_retire: float) -> float:
    """4.7; with 4.2 to 4.5 put in, IPC_MAX - IPC_Issued."""
    return ipc_max - (ipc_divergence + ipc_retire)


def ipc_of_stall(stall: float, ipc_stall: float) -> float:
    """4.8 to 4.10 and 4.12 to 4.14: what a part with STALL_x percent of the stalls costs."""
    return stall / 100 * ipc_stall


def stall_backend(stall_memory_bound: float, stall_core_bound: float) -> float:
    """Equation 4.11."""
    return stall_memory_bound + stall_core_bound
