"""The device library for AMD's GPUs: accuracy, and that its modules are those of its sources."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from amd_library import compiled_library
from scipy import special

import kernelcast as kc
from kernelcast.inputs.amd import generated_code

LIBRARY = Path(generated_code.__file__).parent / "library"
Array = npt.NDArray[Any]
_SMALL = np.concatenate([np.linspace(-10, 10, 4001), np.geomspace(1e-30, 1e-3, 500)])
_WIDE = np.concatenate([_SMALL, np.geomspace(10, 3e38, 3000), -np.geomspace(10, 3e38, 3000)])
_POSITIVE = np.concatenate([np.geomspace(1e-37, 3e38, 5000), np.linspace(0.5, 2, 3001)])
_UNIT = np.linspace(-1, 1, 4001)
_PI = np.longdouble("3.14159265358979323846264338327950288")
_QUARTERS = np.append(np.pi / 2 * np.array([1, 2, 3, 4, 1e3]), 6381956970095103.0 * 2.0**797)
_ANGLES = np.concatenate(
    [_WIDE, np.geomspace(1e5, 1e308, 4001), _QUARTERS, np.nextafter(_QUARTERS, 0), [0.0, 2.0**20]]
)
"""Angles next to multiples of pi / 2 are hard; one is the hardest double (Muller et al., 11.2)."""
FLOAT = {
    # name -> (points, what it is, units in the last place)
    "exp2f": (_SMALL, np.exp2, 1),
    "exp10f": (_SMALL, lambda x: 10.0**x, 2),
    "expf": (_SMALL, np.exp, 1),
    "expm1f": (_SMALL, np.expm1, 6),
    "logf": (_POSITIVE, np.log, 1),
    "log1pf": (np.abs(_SMALL), np.log1p, 4),
    "sinf": (_WIDE, np.sin, 2),
    "cosf": (_WIDE, np.cos, 2),
    "tanf": (_WIDE, np.tan, 4),
    "sinpif": (_SMALL, lambda x: special.sindg(180 * x), 2),
    "cospif": (_SMALL, lambda x: special.cosdg(180 * x), 2),
    "asinf": (_UNIT, np.arcsin, 4),
    "acosf": (_UNIT, np.arccos, 4),
    "atanf": (_WIDE, np.arctan, 3),
    "sinhf": (_SMALL, np.sinh, 4),
    "coshf": (_SMALL, np.cosh, 4),
    "tanhf": (_WIDE, np.tanh, 3),
    "asinhf": (_WIDE, np.arcsinh, 4),
    "acoshf": (np.geomspace(1, 3e38, 3000), np.arccosh, 4),
    "atanhf": (0.999 * _UNIT, np.arctanh, 5),
    "cbrtf": (_WIDE, np.cbrt, 2),
    "erff": (_SMALL, special.erf, 3),
    "erfcf": (np.linspace(-6, 9, 3001), special.erfc, 8),
    "tgammaf": (np.linspace(-9.97, 34, 4001), special.gamma, 1),
    "lgammaf": (np.geomspace(1e-9, 1e9, 4001), special.gammaln, 1),
    "rsqrtf": (_POSITIVE, lambda x: x**-0.5, 1),
}
DOUBLE: dict[str, tuple[Array, Callable[..., Array], int]] = {
    "exp": (np.linspace(-700, 700, 5001), np.exp, 2),
    "exp2": (np.linspace(-1000, 1000, 5001), np.exp2, 2),
    "log": (_POSITIVE, np.log, 2),
    "log2": (_POSITIVE, np.log2, 2),
    "log10": (_POSITIVE, np.log10, 3),
    "expm1": (_SMALL, np.expm1, 2),
    "tanh": (_SMALL, np.tanh, 4),
    "sin": (_ANGLES, np.sin, 1),
    "cos": (_ANGLES, np.cos, 1),
    "tan": (_ANGLES, np.tan, 3),
    "exp10": (np.linspace(-300, 300, 5001), lambda x: np.longdouble(10) ** x, 2),
    "log1p": (np.append(_POSITIVE, np.linspace(-0.999, 10, 4001)), np.log1p, 3),
    "asin": (_UNIT, np.arcsin, 3),
    "acos": (_UNIT, np.arccos, 3),
    "atan": (_WIDE, np.arctan, 2),
    "sinh": (np.linspace(-709, 709, 5001), np.sinh, 3),
    "cosh": (np.linspace(-709, 709, 5001), np.cosh, 3),
    "asinh": (_WIDE, np.arcsinh, 4),
    "acosh": (np.geomspace(1, 1e300, 5000), np.arccosh, 4),
    "atanh": (0.999 * _UNIT, np.arctanh, 4),
    "cbrt": (_WIDE, np.cbrt, 1),
    "erf": (_SMALL, np.vectorize(math.erf), 2),
    "erfc": (np.linspace(-6, 26, 5001), np.vectorize(math.erfc), 6),
    "tgamma": (np.linspace(0.01, 171, 4001), np.vectorize(math.gamma), 12),
    "lgamma": (np.linspace(10, 1e5, 4001), np.vectorize(math.lgamma), 4),
    "sinpi": (_SMALL, lambda x: (-1) ** np.rint(x) * np.sin(_PI * (x - np.rint(x))), 2),
    "logb": (_POSITIVE, lambda x: np.floor(np.log2(x)), 0),
}
_TWO: dict[str, tuple[Callable[..., Array], int]] = {
    "atan2": (np.arctan2, 3),
    "hypot": (np.hypot, 1),
    "remainder": (np.vectorize(math.remainder), 0),
    "nextafter": (lambda x, y: np.nextafter(x.astype(float), y.astype(float)), 0),
}


_SOURCES = ("float", "double", "erf", "angles", "arcs", "roots", "gamma")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A kernel for each function, with the definitions of the library."""
    one = """extern "C" __global__ void k_{0}(const {1} *x, {1} *y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = {0}(x[i]);
}}\n"""
    two = """extern "C" __global__ void k_powf(const float *x, const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = powf(x[i], y[i]);
}\n"""
    two += two.replace("powf", "pow").replace("float", "double")
    two += "".join(two[two.rindex("extern") :].replace("pow", name) for name in _TWO)
    kernels = [one.format(name, "float") for name in FLOAT]
    kernels += [one.format(name, "double") for name in DOUBLE]
    includes = "".join(f'#include "{name}.hip"\n#undef DEFINE\n' for name in _SOURCES)
    file = tmp_path_factory.mktemp("library") / "all.hip"
    file.write_text("#include <hip/hip_runtime.h>\n" + includes + "".join(kernels) + two)
    return kc.load(file, include=[LIBRARY], options=["-ffp-contract=off"])


def errors(found: Array, wanted: Array) -> Array:
    """Units in the last place of the type of `found`; 0 where both are infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = wanted.astype(found.dtype)
        away = np.abs(found - wanted) / np.spacing(np.abs(rounded))
    return np.where(found == rounded, 0, away)


@pytest.mark.drawn(12)
@pytest.mark.parametrize("name", FLOAT)
def test_functions_of_float_are_as_close_as_opencl_asks(module: Any, name: str) -> None:
    points, exact, most = FLOAT[name]
    x = points.astype(np.float32)
    y = np.zeros_like(x)
    module[f"k_{name}"].run(grid=-(-x.size // 256), block=256, args=[x, y, x.size], engine="jit")
    with np.errstate(over="ignore"):
        assert errors(y, exact(x.astype(np.float64))).max() <= most


@pytest.mark.parametrize("name", DOUBLE)
def test_functions_of_double_are_as_close_as_opencl_asks(module: Any, name: str) -> None:
    points, exact, most = DOUBLE[name]
    x = points.astype(np.float64)
    y = np.zeros_like(x)
    module[f"k_{name}"].run(grid=-(-x.size // 256), block=256, args=[x, y, x.size], engine="jit")
    wanted = exact(x.astype(np.longdouble))
    away = np.abs(y - wanted) / np.spacing(np.abs(wanted.astype(np.float64)))
    assert np.where(y == wanted, 0, away).max() <= most


@pytest.mark.parametrize("name", _TWO)
def test_functions_of_two_doubles(module: Any, name: str) -> None:
    exact, most = _TWO[name]
    random = np.random.default_rng(3)
    x, y = (random.normal(size=4096) * 10.0 ** random.integers(-9, 9, 4096) for _ in range(2))
    z = np.zeros_like(x)
    module[f"k_{name}"].run(grid=16, block=256, args=[x, y, z, 4096], engine="jit")
    wanted = exact(x.astype(np.longdouble), y.astype(np.longdouble))
    assert errors(z, wanted).max() <= most


def test_directions_of_points_on_the_axes(module: Any) -> None:
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf])
    y, x = (part.reshape(-1).copy() for part in np.meshgrid(values, values))
    z = np.zeros_like(x)
    module["k_atan2"].run(grid=1, block=64, args=[y, x, z, x.size], engine="jit")
    assert np.array_equal(z, np.arctan2(y, x))
    assert np.array_equal(np.signbit(z), np.signbit(np.arctan2(y, x)))


def test_powers_of_float(module: Any) -> None:
    random = np.random.default_rng(1)
    x = np.abs(random.normal(size=4096) * 10).astype(np.float32)
    y = (random.normal(size=4096) * 10).astype(np.float32)
    special_x = [0, -0.0, -2, -2, -8, np.inf, -np.inf, 1, -1, np.nan, 0]
    special_y = [0, -3, 3, 0.5, 2, -1, 3, np.nan, np.inf, 0, 2]
    x[:11], y[:11] = special_x, special_y
    z = np.zeros_like(x)
    module["k_powf"].run(grid=16, block=256, args=[x, y, z, 4096], engine="jit")
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64))
    finite = np.isfinite(wanted)
    assert errors(z[finite], wanted[finite]).max() <= 1
    assert np.array_equal(z[:11], wanted[:11].astype(np.float32), equal_nan=True)


def test_powers_of_double(module: Any) -> None:
    random = np.random.default_rng(2)
    x = np.abs(random.normal(size=4096) * 10)
    y = random.normal(size=4096) * 10.0 ** random.integers(-2, 3, 4096)
    x[100:200], y[100:200] = 1 + 1e-3 * random.normal(size=100), 6e5 * random.normal(size=100)
    x[200:300], y[200:300] = random.integers(-9, 9, 100), random.integers(-40, 40, 100)
    special_x = [0, -0.0, -2, -2, -8, np.inf, -np.inf, 1, -1, np.nan, 0, -0.0, 2, 0.5, -np.inf]
    special_y = [0, -3, 3, 0.5, 2, -1, 3, np.nan, np.inf, 0, 2, 1e300, np.inf, np.inf, -3.5]
    x[:15], y[:15] = special_x, special_y
    z = np.zeros_like(x)
    module["k_pow"].run(grid=16, block=256, args=[x, y, z, 4096], engine="jit")
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        assert np.array_equal(z[:15], np.power(x, y)[:15], equal_nan=True)
        finite = np.isfinite(wanted.astype(np.float64))
        assert np.array_equal(np.isfinite(z), finite)
        close = errors(z[finite], wanted[finite])
    assert close.max() <= 1


def test_the_modules_are_those_of_the_sources() -> None:
    for name, text in compiled_library().items():
        assert (LIBRARY / name).read_text() == text, "python validation/amd_library.py"


def test_nothing_is_left_to_be_defined_elsewhere() -> None:
    modules = "\n".join(generated_code.library_modules())
    declared = set(re.findall(r"^declare .*@([\w.]+)\(", modules, re.MULTILINE))
    defined = set(re.findall(r"^define .*@([\w.]+)\(", modules, re.MULTILINE))
    assert all(name.startswith("llvm.") for name in declared - defined)
