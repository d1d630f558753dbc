"""The descriptor that `tcgen05.mma` takes: formats, sizes and signs of a product, by bit fields.

PTX ISA 9.0, "Instruction descriptor"; field by field as CUTLASS writes it (`mma_sm100_desc.hpp`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from kernelcast.simcore.isa.matrix.accumulation import WIDE, accumulation_of
from kernelcast.simcore.isa.matrix.block_scales import ScaleFormat
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.products import MatrixProduct
from kernelcast.simcore.isa.matrix.tensor_memory import (
    ProductKind,
    TensorMemoryFault,
    TensorProduct,
)

__all__ = ["DescribedProduct", "described_product", "stated_product"]

F = ElementFormat
_SMALL = {0: F.E4M3, 1: F.E5M2, 3: F.E2M3, 4: F.E3M2, 5: F.E2M1}
_FORMATS = {
    ProductKind.F16: {0: F.F16, 1: F.BF16},
    ProductKind.TF32: {2: F.TF32},
    ProductKind.F8F6F4: _SMALL,
    ProductKind.I8: {0: F.U8, 1: F.S8},
    ProductKind.MXF8F6F4: _SMALL,
    ProductKind.MXF4: {1: F.E2M1_PAIRS},
    ProductKind.MXF4NVF4: {1: F.E2M1_PAIRS},
}
_RESULTS = {0: F.F16, 1: F.F32, 2: F.S32}
_STATIONARY_ROWS, _STATIONARY_COLUMNS = (32, 64, 128), (64, 128, 256)
_SELECTORS = 2
_KNOWN = 256
"""How many descriptors are kept with what they mean."""
_ROWS, _PAIR_ROWS, _MOST_COLUMNS = (64, 128), (128, 256), 256


@dataclass(frozen=True, slots=True)
class DescribedProduct:
    """A product as an instruction descriptor states it.

    `negates`: the sign of A times that of B; `a_scale`, `b_scale`: first bytes of the scales;
    `selector`: the column of the metadata.
    """

    product: MatrixProduct
    a_transposed: bool
    b_transposed: bool
    negates: bool
    scale_format: ScaleFormat = ScaleFormat.UE8M0
    a_scale: int = 0
    b_scale: int = 0
    selector: int = 0


def stated_product(operation: TensorProduct, word: int) -> TensorProduct:
    """The product with what its descriptor says of kind and sparsity, where that decides."""
    if not operation.is_described:
        return operation
    kind, is_sparse = operation.kind, bool(word >> 2 & 1)
    if kind is ProductKind.F16 and word >> 7 & 7 in _FORMATS[ProductKind.TF32]:
        kind = ProductKind.TF32
    if kind.is_scaled and is_sparse:
        raise TensorMemoryFault("scales of sparse products are not supported")
    return replace(operation, kind=kind, is_sparse=is_sparse, is_described=False)


@lru_cache(maxsize=_KNOWN)
def described_product(operation: TensorProduct, word: int) -> DescribedProduct:
    """Decodes a descriptor; TensorMemoryFault says what of it does not fit the instruction."""

    def field(at: int, bits: int) -> int:
        return word >> at & (1 << bits) - 1

    kind = operation.kind
    if field(2, 1) != operation.is_sparse:
        which = "sparse" if field(2, 1) else "dense"
        raise TensorMemoryFault(
            f"the instruction descriptor {word:#x} is that of a {which} product"
        )
    if kind.is_scaled and field(31, 1):
        raise TensorMemoryFault("products of a depth of 96 are not supported")
    formats = _FORMATS[kind]
    codes = field(7, 3), field(10, 3)
    unknown = [code for code in codes if code not in formats]
    result = F.F32 if kind.is_scaled else _RESULTS.get(field(4, 2))
    if unknown or result is None:
        raise TensorMemoryFault(
            f"the instruction descriptor {word:#x} names no format of {kind.value}"
        )
    a, b = (formats[code] for code in codes)
    rows, columns = field(24, 5) * 16, field(17, 6) * 8
    negates = field(13, 1) != field(14, 1)
    _check(operation, result, rows, columns, negates=bool(field(13, 2)))
    is_exact = operation.has_exact_sums and a.is_float
    product = MatrixProduct(
        rows=rows,
        columns=columns,
        depth=kind.depth * (2 if operation.is_sparse else 1),
        a=a,
        b=b,
        accumulator=result,
        result=result,
        accumulation=WIDE if is_exact else accumulation_of(operation.target, a),
        saturates=not kind.is_scaled and bool(field(3, 1)),
    )
    return DescribedProduct(
        product,
        bool(field(15, 1)),
        bool(field(16, 1)),
        negates,
        ScaleFormat.UE8M0 if field(23, 1) else ScaleFormat.UE4M3,
        field(29, 2),
        field(4, 2),
        _selector(operation, a, field(0, 2)),
    )


def _check(
    operation: TensorProduct, result: ElementFormat, rows: int, columns: int, *, negates: bool
) -> None:
    kind, step = operation.kind, 8 if rows == 64 else 16
    if operation.is_stationary:
        fits = rows in _STATIONARY_ROWS and columns in _STATIONARY_COLUMNS
    else:
        fits = rows in (_PAIR_ROWS if operation.is_pair else _ROWS)[kind.is_scaled :]
    if not fits or columns % step or not 0 < columns <= _MOST_COLUMNS:
        raise TensorMemoryFault(f"no product of {rows} rows and {columns} columns of {kind.value}")
    if (result is F.S32) != (kind is ProductKind.I8):
        raise TensorMemoryFault(f"{kind.value} does not add up to {result.ptx_name}")
    if negates and kind is ProductKind.I8:
        raise TensorMemoryFault("integers cannot be negated")
    if result is F.F16 and kind is ProductKind.TF32:
        raise TensorMemoryFault("tf32 does not add up to f16")


def _selector(operation: TensorProduct, a: ElementFormat, selector: int) -> int:
    """Which column of metadata: of two for elements of more than eight bits."""
    if not operation.is_sparse:
        return 0
    if selector >= (_SELECTORS if a.bits > 8 else 1):
        raise TensorMemoryFault(f"no sparsity selector {selector} for elements of {a.ptx_name}")
    return selector
