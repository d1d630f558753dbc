"""Arguments of workload files: types, shapes, contents, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import WorkloadError
from kernelcast.simcore.launch.launch import Argument
from kernelcast.workload.arguments import read_argument
from kernelcast.workload.toml_table import TomlTable


def make(folder: Path, names: dict[str, int] | None = None, **entries: Any) -> Argument:
    table = TomlTable("w.toml", "args[u]", {"name": "u", **entries})
    return read_argument(table, folder).make_whole(names or {})


def make_array(folder: Path, **entries: Any) -> np.ndarray[Any, Any]:
    found = make(folder, {"n": 6}, **entries)
    assert isinstance(found, np.ndarray)
    return found


def test_buffer_has_element_type_and_shape(tmp_path: Path) -> None:
    found = make_array(tmp_path, type="f64[n + 2, n * 2]")
    assert found.dtype == np.float64
    assert found.shape == (8, 12)
    assert not found.any()


@pytest.mark.parametrize("sign", ["int", "uint", "float"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_names_of_numpy(tmp_path: Path, sign: str, bits: int) -> None:
    name = f"{sign}{bits}"
    if name == "float8":
        with pytest.raises(WorkloadError, match="is not a type"):
            make(tmp_path, type=f"{name}[4]")
    else:
        assert make_array(tmp_path, type=f"{name}[4]").dtype == np.dtype(name)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(("i8", np.int8), ("i16", np.int16), ("i32", np.int32), ("i64", np.int64)),
        *(("fp16", np.float16), ("fp32", np.float32), ("fp64", np.float64)),
        *(("char", np.int8), ("short", np.int16), ("int", np.int32)),
        *(("half", np.float16), ("float", np.float32), ("double", np.float64)),
        ("bfloat16", np.uint16),
    ],
)
def test_names_of_triton_and_of_cuda(tmp_path: Path, name: str, dtype: type[Any]) -> None:
    assert make_array(tmp_path, type=f"{name}[n]").dtype == dtype


@pytest.mark.parametrize("name", ["u8", "s16", "b32", "s64", "f16", "f32", "f64"])
def test_generators(tmp_path: Path, name: str) -> None:
    kind = f"{name}[100]"
    assert (make_array(tmp_path, type=kind, init="ones") == 1).all()
    assert (make_array(tmp_path, type=kind, init="arange") == np.arange(100)).all()
    uniform = make_array(tmp_path, type=kind, init="uniform")
    assert len(np.unique(uniform)) > 30
    assert 0 <= uniform.min() <= uniform.max() <= (1 if name[0] == "f" else 99)


def test_uniform_has_the_mean_of_its_bounds_and_follows_the_seed(tmp_path: Path) -> None:
    bounds = {"type": "f32[100, 100]", "init": "uniform", "low": -2.0, "high": 6.0}
    found = make_array(tmp_path, **bounds)
    assert found.mean() == pytest.approx(2.0, abs=0.1)
    assert found.dtype == np.float32
    assert (found == make_array(tmp_path, **bounds)).all()
    assert (found != make_array(tmp_path, **bounds, seed=1)).any()


def test_normal_has_unit_variance(tmp_path: Path) -> None:
    found = make_array(tmp_path, type="f64[10000]", init="normal")
    assert found.std() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("form", ["inline", "key"])
def test_contents_from_a_numpy_file(tmp_path: Path, form: str) -> None:
    saved = np.arange(12, dtype=np.float32).reshape(2, 6)
    np.save(tmp_path / "x.npy", saved)
    entries = {"file": "x.npy"} if form == "key" else {"init": {"file": "x.npy"}}
    assert (make_array(tmp_path, type="f32[2, n]", **entries) == saved).all()


def test_contents_from_raw_bytes(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(np.arange(6, dtype=np.int16).tobytes())
    found = make_array(tmp_path, type="s16[n]", init={"file": "x.bin"})
    assert found.tolist() == [0, 1, 2, 3, 4, 5]


def test_contents_from_python(tmp_path: Path) -> None:
    (tmp_path / "inputs.py").write_text("def ramp(sizes):\n    return [0.5] * sizes['n']\n")
    found = make_array(tmp_path, type="f64[n]", init={"python": "inputs.py:ramp"})
    assert found.tolist() == [0.5] * 6
    assert found.dtype == np.float64


def test_init_may_name_the_key_that_says_where_from(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6.0))
    assert make_array(tmp_path, type="f64[n]", init="file", file="x.npy")[5] == 5


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no\\nluck')", r"inputs\.py:2: ValueError: no luck"),
        ("return [[1], [1, 2]]", "returns no array"),
        ("return ['a'] * sizes['n']", "contents of type <U1, not numbers"),
        ("return [object()] * sizes['n']", "contents of type object, not numbers"),
        ("return None", r"contents of shape \(\), not \(6,\)"),
        ("return ))", r"inputs\.py:2: SyntaxError"),
    ],
)
def test_functions_that_fail_are_named_with_their_line(
    tmp_path: Path, body: str, message: str
) -> None:
    (tmp_path / "inputs.py").write_text(f"def f(sizes):\n    {body}\n")
    with pytest.raises(WorkloadError, match=message) as caught:
        make_array(tmp_path, type="f64[n]", python="inputs.py:f")
    assert "\n" not in str(caught.value)


def test_function_with_the_wrong_number_of_parameters(tmp_path: Path) -> None:
    (tmp_path / "inputs.py").write_text("def f():\n    return 1\n")
    with pytest.raises(WorkloadError, match=r"\.init: TypeError: f\(\) takes 0 positional"):
        make_array(tmp_path, type="f64[n]", python="inputs.py:f")


def test_scalars(tmp_path: Path) -> None:
    found = make(tmp_path, {"n": 6}, type="f64", value="1 / n")
    assert found == 1 / 6
    assert isinstance(found, np.float64)
    assert make(tmp_path, {"n": 6}, type="s32", value="-n") == -6
    assert make(tmp_path, type="u32", value=-1) == 2**32 - 1
    assert make(tmp_path, type="u64", value=2**64 - 1) == 2**64 - 1


def test_structs_are_bytes(tmp_path: Path) -> None:
    assert make(tmp_path, type="bytes[4]", value="00ff1020") == b"\x00\xff\x10\x20"
    assert make(tmp_path, type="bytes[2]", value="0x1020") == b"\x10\x20"
    assert make(tmp_path, type="bytes[3]") == b"\0\0\0"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"type": "f65[4]"}, "is not a type"),
        ({"type": "pred"}, "is not a type"),
        ({"type": "f32[4"}, "is not a type"),
        ({"type": "f32[]"}, "sizes must be positive"),
        ({"type": "f32[0]"}, "sizes must be positive"),
        ({"type": "f32[k]"}, "no size is called 'k'"),
        ({"type": "bytes"}, "bytes needs a size"),
        ({"type": "bytes[2]", "value": "00"}, "1 bytes of contents, not 2"),
        ({"type": "bytes[2]", "value": "zz"}, "hexadecimal"),
        ({"type": "s32"}, "value is missing"),
        ({"type": "s32", "value": 0.5}, "not an integer"),
        ({"type": "u8", "value": 256}, "u8 cannot hold 256"),
        ({"type": "s8", "value": 128}, "s8 cannot hold 128"),
        ({"type": "f32[4]", "value": 1}, "a buffer is filled with init"),
        ({"type": "f32[4]", "init": "unifrom"}, "is not one of zeros, ones"),
        ({"type": "f32[4]", "init": "file"}, "is not one of"),
        ({"type": "f32[4]", "init": {"fil": "x"}}, "did you mean file"),
        ({"type": "f32[4]", "init": {"file": "none.npy"}}, "No such file"),
        ({"type": "f32[4]", "init": "ones", "file": "x.npy"}, "only one of"),
        ({"type": "f32[4]", "init": {"python": "none.py:f"}}, "no file"),
        ({"type": "f32[4]", "init": {"python": "f"}}, "file.py:function"),
        ({"type": "f32[4]", "seed": "x"}, "seed must be an integer"),
        ({"type": "f32[4]", "sed": 1}, "did you mean seed"),
        ({"value": 1}, "type is missing"),
        ({"type": "f32[4]", "init": "uniform", "seed": -1}, "seed must not be negative"),
        ({"type": "f32[4]", "init": "uniform", "low": 1}, "low must be below high"),
        ({"type": "f32[4]", "init": "uniform", "low": float("inf")}, "low must be below high"),
        ({"type": "s32[4]", "init": "uniform", "low": 5, "high": 5}, "low must be below high"),
        ({"type": "s32[4]", "init": "uniform", "low": 0.2, "high": 0.8}, "no whole numbers"),
        ({"type": "u8[4]", "init": "uniform", "high": 257}, "u8 holds no whole numbers"),
        ({"type": "f16[4]", "init": "uniform", "high": 1e6}, "f16 cannot hold"),
        ({"type": "f32[10 ** 19]"}, "no memory for shape"),
        ({"type": "f32[4]", "init": "file", "python": "i.py:f"}, "only one of"),
    ],
)
def test_bad_argument_names_file_and_key(
    tmp_path: Path, entries: dict[str, Any], message: str
) -> None:
    with pytest.raises(WorkloadError, match=r"w\.toml: args\[u\]") as caught:
        make(tmp_path, **entries)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_contents_of_another_shape_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(5))
    with pytest.raises(WorkloadError, match=r"shape \(5,\), not \(4,\)"):
        make(tmp_path, type="f32[4]", init={"file": "x.npy"})


def test_a_file_that_is_no_numpy_file(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_text("nothing")
    with pytest.raises(WorkloadError, match="not a NumPy file"):
        make(tmp_path, type="f32[4]", init={"file": "x.npy"})


def test_missing_function_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "inputs.py").write_text("def matrix(sizes):\n    return []\n")
    with pytest.raises(WorkloadError, match="did you mean matrix"):
        make(tmp_path, type="f32[4]", init={"python": "inputs.py:matrx"})
