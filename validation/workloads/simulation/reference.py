"""What the simulations must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Array = npt.NDArray[Any]

ROWS_AT_ONCE = 256
"""Rows computed at once of the table of all pairs of bodies."""

WORD = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


def nbody(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Sums over all pairs in double precision, as matrix products.

    The sum of m (p_j - p_i) w_ij over j is (W m p)_i - p_i (W m)_i.
    """
    bodies = inputs["bodies"].astype(np.float64)
    places, weighted = bodies[:, :3], bodies.copy()
    weighted[:, :3] *= bodies[:, 3:]
    accelerations = np.zeros_like(bodies)
    for first in range(0, len(bodies), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        squares = sum((places[rows, axis, None] - places[:, axis]) ** 2 for axis in range(3))
        sums = (squares + inputs["softening"]) ** -1.5 @ weighted
        accelerations[rows, :3] = sums[:, :3] - places[rows] * sums[:, 3:]
    return {"accelerations": accelerations}


def black_scholes(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Option prices in double precision; the put by the parity of puts and calls."""
    price, strike, years = (
        inputs[name].astype(np.float64) for name in ("prices", "strikes", "years")
    )
    rate, volatility = inputs["rate"], inputs["volatility"]
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * years) / deviation
    discounted = strike * np.exp(-rate * years)
    call = price * special.ndtr(d1) - discounted * special.ndtr(d1 - deviation)
    return {"calls": call, "puts": call + discounted - price}


def philox(counter: list[Array], key: tuple[int, int]) -> list[Array]:
    """Philox4x32-10 on arrays of 64-bit words, each below 2**32."""
    a, b, c, d = counter
    for step in range(10):
        low_key, high_key = (
            np.uint64((word + step * weyl) % 2**32)
            for word, weyl in zip(key, (0x9E3779B9, 0xBB67AE85), strict=True)
        )
        first, second = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b = (second >> WORD) ^ b ^ low_key, second & LOW
        c, d = (first >> WORD) ^ d ^ high_key, first & LOW
    return [a, b, c, d]


def monte_carlo_pi(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Hits of each thread in the quarter circle, counted with the integers of Philox."""
    thread = np.arange(sizes["threads"], dtype=np.uint64)
    hits = np.zeros(len(thread), np.int64)
    for draw in range(sizes["draws"]):
        counter = [thread, np.full_like(thread, draw), *np.zeros((2, len(thread)), np.uint64)]
        words = philox(counter, (int(inputs["key0"]), int(inputs["key1"])))
        x1, y1, x2, y2 = ((word >> np.uint64(1)) ** np.uint64(2) for word in words)
        hits += x1 + y1 < np.uint64(2**62)
        hits += x2 + y2 < np.uint64(2**62)
    return {"hits": hits}


def mandelbrot(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """All pixels step together; those that have left drop out."""
    width, height = sizes["width"], sizes["height"]
    left, top, pixel = (np.float32(inputs[name]) for name in ("left", "top", "pixel"))
    real = np.tile(left + np.arange(width, dtype=np.float32) * pixel, height)
    imaginary = np.repeat(top - np.arange(height, dtype=np.float32) * pixel, width)
    steps = np.zeros(width * height, np.int32)
    inside = np.arange(width * height)
    x, y = np.zeros_like(real), np.zeros_like(real)
    for _ in range(sizes["limit"]):
        x_squared, y_squared = x * x, y * y
        stays = x_squared + y_squared <= 4
        inside, real, imaginary = inside[stays], real[stays], imaginary[stays]
        steps[inside] += 1
        y = 2 * (x * y)[stays] + imaginary
        x = (x_squared - y_squared)[stays] + real
    return {"steps": steps.reshape(height, width)}
