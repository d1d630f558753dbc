"""Sequences of random words in NumPy, beside those of `program_capture/client/kernels`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["FIRST_COUNT", "SEED", "philox", "sequence"]

SEED = 0x123456789ABCDEF
FIRST_COUNT = 1001
_STREAMS, _STREAM_QUADS = 256, 16
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_XORWOW, _MRG32K3A = 101, 121
_MODULI = (4294967087, 4294944443)

Words = npt.NDArray[np.uint32]
Wide = npt.NDArray[np.uint64]


def philox(seed: int, counters: Wide, high: int) -> Words:
    """Four words for each counter, as Salmon et al. (SC 2011) define Philox4x32-10."""
    x = [counters & _LOW, counters >> _HALF]
    x += [np.full_like(counters, high & 0xFFFFFFFF), np.full_like(counters, high >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * x[0], np.uint64(0xCD9E8D57) * x[2]
        x = [
            (second >> _HALF) ^ x[1] ^ np.uint64(key[0]),
            second & _LOW,
            (first >> _HALF) ^ x[3] ^ np.uint64(key[1]),
            first & _LOW,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, axis=-1).astype(np.uint32)


def sequence(kind: int, seed: int, count: int) -> Words:
    """The first words of a sequence."""
    if kind not in (_XORWOW, _MRG32K3A):
        return philox(seed, np.arange(-(-count // 4), dtype=np.uint64), 0).reshape(-1)[:count]
    group_words = 4 * _STREAMS * _STREAM_QUADS
    streams = np.arange(-(-count // group_words) * _STREAMS, dtype=np.uint64)
    parts = [philox(seed, np.uint64(2) * streams + np.uint64(i), 1) for i in (0, 1)]
    states = np.concatenate(parts, axis=-1)
    made = _xorwow(states) if kind == _XORWOW else _mrg32k3a(states)
    # Of each group the first quads of all streams come first.
    shaped = made.reshape(-1, _STREAMS, _STREAM_QUADS, 4).swapaxes(1, 2)
    return np.ascontiguousarray(shaped).reshape(-1)[:count]


def _xorwow(states: Words) -> Words:
    *x, d = (states[:, i].copy() for i in range(6))
    x[4] |= np.uint32(1)
    made = []
    for _ in range(4 * _STREAM_QUADS):
        mixed = x[0] ^ (x[0] >> np.uint32(2))
        last = x[4] ^ (x[4] << np.uint32(4)) ^ mixed ^ (mixed << np.uint32(1))
        x = [*x[1:], last]
        d = d + np.uint32(362437)
        made.append(last + d)
    return np.stack(made, axis=-1)


def _mrg32k3a(states: Words) -> Words:
    x = []
    for column, modulus in zip((0, 4), _MODULI, strict=True):
        words = [states[:, column + i].astype(np.int64) for i in range(3)]
        x.append([words[0] % (modulus - 1) + 1, words[1] % modulus, words[2] % modulus])
    made = []
    for _ in range(4 * _STREAM_QUADS):
        first = (1403580 * x[0][1] - 810728 * x[0][0]) % _MODULI[0]
        second = (527612 * x[1][2] - 1370589 * x[1][0]) % _MODULI[1]
        x = [[*x[0][1:], first], [*x[1][1:], second]]
        made.append(np.where(first >= second, first - second, first + _MODULI[0] - second))
    return np.stack(made, axis=-1).astype(np.uint32)
