"""Pseudo-LRU by a binary tree: each node points away from the half that was used last.

Nodes are bits of one word of a set, node n over 2n and 2n + 1 (Al-Zoubi et al., ACM SE 2004). Where
the ways are no power of two, halves that do not exist are never pointed at.
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.memory.replacement.role import Ints, Words

__all__ = ["MOST_WAYS", "NAME", "cold", "insert", "touch", "victim"]

NAME = "plru"
MOST_WAYS = 32
"""A word has room for the nodes over twice as many leaves."""


def cold(ways: int, stride: int, sets: int) -> Ints:
    """`recency` of empty sets; the first slot of each is its tree: all nodes point left."""
    return np.zeros(stride * sets, np.int64)


@inlined
def touch(recency: Ints, first: int, stride: int, ways: int, way: int, clock: Ints) -> None:
    """Points all nodes above the way away from it."""
    leaves = 1
    while leaves < ways:
        leaves *= 2
    tree, node = recency[np.uint64(first)], leaves + way
    while node > 1:
        bit = 1 << (node >> 1)
        tree = tree & ~bit if node & 1 else tree | bit
        node >>= 1
    recency[np.uint64(first)] = tree


insert = touch


@inlined
def victim(recency: Ints, first: int, stride: int, ways: int, random: Words) -> int:
    """The way that the nodes of the tree point to."""
    leaves = 1
    while leaves < ways:
        leaves *= 2
    tree, node, below = recency[np.uint64(first)], 1, leaves
    while node < leaves:
        below >>= 1
        right = 2 * node + 1
        points_right = tree >> node & 1
        node = right if points_right and right * below - leaves < ways else 2 * node
    return int(node - leaves)
