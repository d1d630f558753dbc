"""Address expressions: normal form, sources, and values against Python's own arithmetic."""

from __future__ import annotations

import itertools
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.simcore.address.expression import (
    AddressExpression,
    constant,
    thread_block_index,
    thread_block_size,
    thread_index,
    variable,
)
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field

CUDA = "(blockIdx.x*blockDim.x + threadIdx.x) + 640*(blockIdx.y*blockDim.y + threadIdx.y + 1)"


def test_the_same_polynomial_is_equal_however_it_is_written() -> None:
    x, y = variable("x"), variable("y")
    assert (x + y) * (x - y) == x * x - y**2
    assert x * 3 - x - 2 * x == AddressExpression()
    assert hash(x + y) == hash(y + x)
    assert str(2 * x - y + 3) == "3 + 2*x - y"


def test_text_callable_and_operators_agree() -> None:
    by_hand = (
        thread_block_index("x") * thread_block_size("x")
        + thread_index("x")
        + 640 * (thread_block_index("y") * thread_block_size("y") + thread_index("y") + 1)
    )
    assert address_expression(CUDA) == by_hand
    assert address_expression(
        "%ctaid.x*%ntid.x + %tid.x + 640*(1 + %ctaid.y*%ntid.y + %tid.y)"
    ) == (by_hand)

    def of_indices(tx: Any, ty: Any, bx: Any, by: Any, dx: Any, dy: Any) -> Any:
        return bx * dx + tx + 640 * (by * dy + ty + 1)

    assert address_expression(of_indices) == by_hand


def test_coordinates_are_thread_and_thread_block_index() -> None:
    cells = address_expression("x + 640*(y + 1)").bind((32, 4, 1))
    assert cells == address_expression(CUDA).bind((32, 4, 1))


def test_indices_of_a_shaped_field_are_linear() -> None:
    assert address_expression(("x + 1", "y", 2), (1, 10, 200)) == address_expression(
        "x + 1 + 10*y + 400"
    )
    with pytest.raises(KernelcastError, match="2 indices for a field of 0 dimensions"):
        address_expression(("x", "y"))


@pytest.mark.parametrize("folding", [(1, 1, 1), (1, 2, 1), (2, 1, 4)])
def test_binding_gives_the_value_of_the_polynomial(folding: tuple[int, int, int]) -> None:
    block = (8, 4, 2)
    form = address_expression("3*x + pitch*y - 7*z + pitch*pitch + 5*k").bind(
        block, {"pitch": 100}, folding, loops=("k",)
    )
    for tid, ctaid, k in itertools.product(((0, 0, 0), (3, 2, 1)), ((0, 0, 0), (5, 1, 9)), (0, 2)):
        fold = tuple(cells - 1 for cells in folding)
        x, y, z = ((ctaid[a] * block[a] + tid[a]) * folding[a] + fold[a] for a in range(3))
        indices = {
            f"{name}.{axis}": values[a]
            for name, values in (("tid", tid), ("ctaid", ctaid), ("fold", fold))
            for a, axis in enumerate("xyz")
        }
        assert form.value({**indices, "k": k}) == 3 * x + 100 * y - 7 * z + 10000 + 5 * k


def test_what_is_not_affine_is_refused_with_the_term() -> None:
    with pytest.raises(ModelNotApplicable, match=r"not affine: x\*y"):
        address_expression("x*y").bind((32, 1, 1))
    with pytest.raises(ModelNotApplicable, match="needs a value of pitch"):
        address_expression("x + pitch").bind((32, 1, 1))


@pytest.mark.parametrize("text", ["x / 2", "x % 4", "f(x)", "x ** y", "x +", "1.5*x", "x[1]"])
def test_other_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(KernelcastError, match="address expression"):
        address_expression(text)


def _sympy(kind: str, *args: Any, **more: Any) -> Any:
    """An expression with the attributes that those of SymPy have."""
    return SimpleNamespace(
        func=SimpleNamespace(__name__=kind), args=args, is_Symbol=False, is_Integer=False, **more
    )


def test_expressions_of_sympy_by_their_structure() -> None:
    class Integer(SimpleNamespace):
        def __int__(self) -> int:
            return int(self.value)

    def integer(value: int) -> Any:
        return Integer(
            func=SimpleNamespace(__name__="Integer"),
            args=(),
            is_Symbol=False,
            is_Integer=True,
            value=value,
        )

    class Symbol(SimpleNamespace):
        def __str__(self) -> str:
            return str(self.name)

    x = Symbol(func=SimpleNamespace(__name__="Symbol"), args=(), is_Symbol=True, name="x")
    found = _sympy("Add", _sympy("Mul", integer(640), x), _sympy("Pow", x, integer(2)), integer(-3))
    assert address_expression(found) == address_expression("640*x + x*x - 3")
    with pytest.raises(KernelcastError, match="floor"):
        address_expression(_sympy("floor", x))


def test_sympy_itself() -> None:
    sympy = pytest.importorskip("sympy")
    x, y = sympy.symbols("x y")
    assert address_expression((x + y) ** 2 - 4 * y) == address_expression("x*x + 2*x*y + y*y - 4*y")


def test_a_kernel_makes_byte_offsets_of_element_indices() -> None:
    field = Field("a", 4, (100, 50))
    kernel = AddressKernel(
        [field], [("a", ("x", "y + 1"))], [("a", lambda x, y: x + 100 * y)], (100, 50), (32, 4)
    )
    assert kernel.loads == (Access("a", address_expression("4*x + 400*y + 400"), 4),)
    assert kernel.stores[0].offset == address_expression("4*x + 400*y")
    assert kernel.domain == (100, 50, 1)
    assert kernel.grid == (4, 13, 1)
    assert kernel.with_folding(1, 2).tile == (32, 8, 1)
    assert kernel.with_block(64, 2).block == (64, 2, 1)
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_a_kernel_refuses_what_it_does_not_know() -> None:
    with pytest.raises(KernelcastError, match=r"no field 'src' \(did you mean srd"):
        AddressKernel([Field("srd", 8)], [("src", "x")], [], (8,), (8,))
    with pytest.raises(KernelcastError, match="thread block must be up to three sizes"):
        AddressKernel([Field("a", 8)], [("a", "x")], [], (8,), (0,))


def test_constants_are_known() -> None:
    assert constant(3).as_constant == 3
    assert AddressExpression().as_constant == 0
    assert (variable("x") + 1).as_constant is None
