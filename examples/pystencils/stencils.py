"""Three kernels of pystencils for a GPU (Ernst et al. 2022, sections 5.2 and 5.3).

A star of 25 points, an average of 7, and D3Q15 lattice Boltzmann that tracks an interface.
"""

from __future__ import annotations

from typing import Any

import pystencils as ps
import sympy as sp

RANGE = 4
DIRECTIONS = (
    (0, 0, 0),
    *(tuple(sign * (axis == other) for other in range(3)) for axis in range(3) for sign in (1, -1)),
    *((x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)),
)
"""D3Q15: rest, six along the axes, eight along the diagonals."""


def _gpu(halo: int) -> ps.CreateKernelConfig:
    return ps.CreateKernelConfig(target=ps.Target.CUDA, ghost_layers=halo)


def _weight(direction: tuple[int, ...]) -> sp.Rational:
    steps = sum(map(abs, direction))
    return {0: sp.Rational(2, 9), 1: sp.Rational(1, 9), 3: sp.Rational(1, 72)}[steps]


def star25(width: int, height: int, depth: int) -> Any:
    """Range-4 star on doubles; the sizes are those of the updated cells."""
    sizes = ",".join(str(n + 2 * RANGE) for n in (width, height, depth))
    source, target = ps.fields(f"source, target: double[{sizes}]", layout="fzyx")
    weights = sp.symbols(f"w_0:{RANGE + 1}")
    total = weights[0] * source.center()
    for distance in range(1, RANGE + 1):
        neighbours = [
            source[tuple(sign * distance * (axis == other) for other in range(3))]
            for axis in range(3)
            for sign in (1, -1)
        ]
        total += weights[distance] * sum(neighbours)
    return ps.create_kernel(ps.Assignment(target.center(), total), _gpu(RANGE))


def average7(width: int, height: int, depth: int) -> Any:
    """The mean of a cell and its six neighbours."""
    sizes = ",".join(str(n + 2) for n in (width, height, depth))
    source, target = ps.fields(f"source, target: double[{sizes}]", layout="fzyx")
    cells = [source[direction] for direction in DIRECTIONS if sum(map(abs, direction)) < 2]
    return ps.create_kernel(ps.Assignment(target.center(), sum(cells) / 7), _gpu(1))


def interface_tracking(width: int, height: int, depth: int) -> Any:
    """The conservative Allen-Cahn equation by D3Q15: pull, then collide.

    The interface's normal comes from central differences of the phase field (Geier, Fakhari, Lee,
    Phys. Rev. E 91, 063309).
    """
    sizes = ",".join(str(n + 2) for n in (width, height, depth))
    pulled, collided = ps.fields(f"pulled(15), collided(15): double[{sizes}]", layout="fzyx")
    phase, phase_to = ps.fields(f"phase, phase_to: double[{sizes}]", layout="fzyx")
    omega, thickness = sp.symbols("omega thickness")
    velocity = sp.symbols("u_0:3")
    slopes = sp.symbols("slope_0:3")
    c, sharpening, at_rest = sp.symbols("c sharpening at_rest")
    ahead = [tuple(int(axis == other) for other in range(3)) for axis in range(3)]
    behind = [tuple(-step for step in direction) for direction in ahead]
    steps = [
        ps.Assignment(c, phase.center()),
        *(
            ps.Assignment(slope, (phase[plus] - phase[minus]) / 2)
            for slope, plus, minus in zip(slopes, ahead, behind, strict=True)
        ),
        ps.Assignment(
            sharpening,
            4 * c * (1 - c) / (thickness * (sp.sqrt(sum(s**2 for s in slopes)) + 1e-9)),
        ),
        ps.Assignment(at_rest, 1 - sp.Rational(3, 2) * sum(u**2 for u in velocity)),
    ]
    relaxed = sp.symbols("relaxed_0:15")
    for number, direction in enumerate(DIRECTIONS):
        along = sum(a * b for a, b in zip(direction, velocity, strict=True))
        across = sum(a * b for a, b in zip(direction, slopes, strict=True))
        equilibrium = _weight(direction) * (
            c * (at_rest + along * (3 + sp.Rational(9, 2) * along)) + sharpening * across
        )
        arriving = pulled[tuple(-step for step in direction)](number)
        steps.append(ps.Assignment(relaxed[number], arriving + omega * (equilibrium - arriving)))
        steps.append(ps.Assignment(collided.center(number), relaxed[number]))
    steps.append(ps.Assignment(phase_to.center(), sum(relaxed)))
    return ps.create_kernel(steps, _gpu(1))
