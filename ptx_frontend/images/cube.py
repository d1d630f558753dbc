"""Cube maps: which face a direction meets, and where (CUDA programming guide, cubemap textures)."""

from __future__ import annotations

from kernelcast.ptx_frontend.images.code import ImageCode, single
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["face_and_place"]


def face_and_place(
    call: ImageCode, x: Operand, y: Operand, z: Operand
) -> tuple[Operand, Operand, Operand]:
    """(face, s, t): the face 0 to 5 by the largest coordinate, normalized places on it."""
    far = [call.compute("abs.f32", 32, number) for number in (x, y, z)]
    back = [call.compute("neg.f32", 32, number) for number in (x, y, z)]
    is_x = call.compute(
        "and.pred",
        1,
        call.compute("setp.ge.f32", 1, far[0], far[1]),
        call.compute("setp.ge.f32", 1, far[0], far[2]),
    )
    is_y = call.compute("setp.ge.f32", 1, far[1], far[2])

    def by_axis(of_x: Operand, of_y: Operand, of_z: Operand) -> Operand:
        return call.select(32, is_x, of_x, call.select(32, is_y, of_y, of_z))

    largest = by_axis(x, y, z)
    is_negative = call.compute("setp.lt.f32", 1, largest, single(0.0))

    def by_sign(negative: Operand, positive: Operand) -> Operand:
        return call.select(32, is_negative, negative, positive)

    first = by_axis(Immediate(0), Immediate(2), Immediate(4))
    face = call.compute("add.u32", 32, first, by_sign(Immediate(1), Immediate(0)))
    s = by_axis(by_sign(z, back[2]), x, by_sign(back[0], x))
    t = by_axis(back[1], by_sign(back[2], z), back[1])
    distance = by_axis(*far)
    places: list[Operand] = []
    for side in (s, t):
        share = call.compute("div.rn.f32", 32, side, distance)
        places.append(call.compute("fma.rn.f32", 32, share, single(0.5), single(0.5)))
    return face, places[0], places[1]
