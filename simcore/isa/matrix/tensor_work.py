"""What a product counts as tensor operations: their type, and how many a lane stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.operations import MatrixOpcode
from kernelcast.simcore.isa.matrix.products import MatrixProduct
from kernelcast.simcore.isa.opcodes.warp import GROUP, WarpOpcode
from kernelcast.simcore.isa.tensor_types import TensorType, tensor_type_name

__all__ = ["TensorWork", "product_work", "tensor_work"]

_TYPES: Mapping[ElementFormat, TensorType] = {
    ElementFormat.F64: TensorType.FP64,
    ElementFormat.TF32: TensorType.TF32,
    ElementFormat.BF16: TensorType.BF16,
    ElementFormat.F16: TensorType.FP16,
    ElementFormat.E4M3: TensorType.FP8,
    ElementFormat.E5M2: TensorType.FP8,
    ElementFormat.E3M2: TensorType.FP6,
    ElementFormat.E2M3: TensorType.FP6,
    ElementFormat.E2M1: TensorType.FP4,
    ElementFormat.E2M1_PAIRS: TensorType.MXFP4,
    ElementFormat.S8: TensorType.INT8,
    ElementFormat.U8: TensorType.INT8,
    ElementFormat.S4: TensorType.INT4,
    ElementFormat.U4: TensorType.INT4,
    ElementFormat.B1: TensorType.B1,
}
"""The tensor type by the wider one of A's and B's formats."""
_HALF_SUMS: Mapping[TensorType, TensorType] = {
    TensorType.FP16: TensorType.FP16_FP16,
    TensorType.FP8: TensorType.FP8_FP16,
}


_IN_BYTES = (TensorType.FP8, TensorType.FP6, TensorType.FP4)


class TensorWork(NamedTuple):
    """`operations` of one lane, two for each multiply-add."""

    type_name: str
    operations: int


def tensor_work(opcode: WarpOpcode) -> TensorWork:
    """Nothing for what is no product."""
    if not isinstance(opcode, MatrixOpcode) or opcode.operation is None:
        return TensorWork("", 0)
    operation = opcode.operation
    type_ = _type(operation.product)
    if operation.scales and type_ in _IN_BYTES:
        type_ = TensorType.MXFP8
    name = tensor_type_name(type_, is_sparse=operation.sparsity is not None)
    return TensorWork(name, 2 * operation.product.multiply_adds // GROUP)


def product_work(product: MatrixProduct, *, is_sparse: bool = False) -> TensorWork:
    """The tensor work of a product that one lane asks for; a sparse one counts as a dense one."""
    name = tensor_type_name(_type(product), is_sparse=is_sparse)
    return TensorWork(name, 2 * product.multiply_adds)


def _type(product: MatrixProduct) -> TensorType:
    found = [_TYPES[product.a], _TYPES[product.b]]
    type_ = min(found, key=list(TensorType).index)
    if product.result is ElementFormat.F16:
        return _HALF_SUMS.get(type_, type_)
    return type_
