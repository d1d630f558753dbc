"""Libraries in place of cuBLAS and cuRAND: programs in C that check what our kernels compute."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import kernelcast as kc
from kernelcast.errors import InputError
from kernelcast.program_capture.client_build import CLIENT_SOURCES
from kernelcast.program_capture.libraries import libraries
from kernelcast.simcore.device.file import load_device
from tests.drawn_cases import ALL_CASES
from tests.kernelcast.program_capture import random_words
from tests.kernelcast.program_capture.building import PROGRAMS, c_compiler, nvcc
from tests.kernelcast.program_capture.running import Captured, captured

KERNELS = CLIENT_SOURCES / "kernels"
BLAS = ("libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12")
RANDOM = ("libcurand.so.10", "libcudart.so.12")
XORWOW, MRG32K3A, PHILOX = 101, 121, 161


def built(name: str, folder: Path, linked: Sequence[str], *flags: str) -> Path:
    """A program in C, linked to libraries of ours by their sonames."""
    found = libraries()
    program = folder / name
    command = [c_compiler(), "-g", "-Wall", "-Wextra", "-Werror", *flags]
    command += [str(PROGRAMS / f"{name}.c"), *(str(found / library) for library in linked)]
    subprocess.run([*command, f"-Wl,-rpath-link,{found}", "-lm", "-o", str(program)], check=True)
    return program


def run(capfd: pytest.CaptureFixture[str], program: Path, *arguments: str) -> Captured:
    """What a program did that found its results right, by kernels of ours alone."""
    found = captured(capfd, program, *arguments, devices=["a100-40gb"])
    assert found.told.endswith("all right\n"), found.told
    assert found.status == 0
    assert all(launch["is_stand_in"] for launch in found.record["launches"])
    return found


@pytest.mark.parametrize("major", [11, 12, 13] if ALL_CASES else [12])
def test_products_sums_and_refusals(
    major: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = "libcudart.so.11.0" if major == 11 else f"libcudart.so.{major}"
    linked = (f"libcublas.so.{major}", f"libcublasLt.so.{major}", runtime)
    found = run(capfd, built("blas_first", tmp_path, linked))
    assert found.kernels == [
        "kernelcast_gemm_f32_32x32",
        "kernelcast_axpy_f32",
        "kernelcast_dot_f32",
    ]
    assert found.record["refused"] == {"cublasChemm_v2": 1, "cublasLtCreate": 1}
    assert re.search(r"calls cublasChemm_v2 \((main, blas_first\.c:\d+|.*\+0x\w+)\)", found.told)


if ALL_CASES:

    @pytest.mark.parametrize("flag", ["-DSINGLE", "-DDOUBLE"])
    @pytest.mark.parametrize("name", ["blas_vectors", "blas_matrices"])
    def test_functions_beside_plain_loops(
        name: str, flag: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        found = run(capfd, built(name, tmp_path, BLAS, flag), "3000")
        assert len(set(found.kernels)) >= 7
        assert not found.record["refused"]


if ALL_CASES:

    def test_half_precision_given_types_and_wide_sizes(
        tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        found = run(capfd, built("blas_half", tmp_path, BLAS))
        assert found.record["refused"] == {"cublasGemmEx of types 3, 3, 10, computed in 72": 2}
        assert {"kernelcast_gemm_f16_128x128", "kernelcast_gemm_f16_32x32"} <= set(found.kernels)


def test_generators_that_there_are_not_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(capfd, built("random_numbers", tmp_path, RANDOM))
    assert found.record["refused"] == {
        "curandCreateGenerator of MT19937": 1,
        "curandCreateGenerator of Sobol": 1,
        "curandGeneratePoisson": 1,
    }


def read(path: Path, count: int) -> list[npt.NDArray[np.generic]]:
    """Words, and numbers of the six distributions, as `random_numbers` writes them."""
    kinds = ["u4", "f4", "f8", "f4", "f8", "f4", "f8"]
    content = path.read_bytes()
    found: list[npt.NDArray[np.generic]] = []
    for kind, size in zip(kinds, [random_words.FIRST_COUNT, *[count] * 6], strict=True):
        found.append(np.frombuffer(content, kind, size))
        content = content[found[-1].nbytes :]
    assert not content
    return found


@pytest.mark.parametrize(
    ("kind", "is_host"),
    [
        (kind, is_host)
        for kind in (XORWOW, MRG32K3A, PHILOX)
        for is_host in ((True, False) if ALL_CASES else (True,))
    ],
)
def test_numbers_have_their_distributions(
    kind: int, is_host: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    count = 20000
    to = tmp_path / "numbers"
    program = built("random_numbers", tmp_path, RANDOM)
    run(capfd, program, str(to), str(kind), str(int(is_host)), str(count))
    words, *numbers = read(to, count)
    first = 3 + words.size
    sequence = random_words.sequence(kind, random_words.SEED, first + count)
    assert np.array_equal(words, sequence[3:first])
    uniform = sequence[first:].astype(np.float32) * np.float32(2**-32)
    assert np.array_equal(numbers[0], uniform + np.float32(2**-33))
    expected = [
        stats.uniform(),
        stats.uniform(),
        stats.norm(2, 3),
        stats.norm(-1, 0.5),
        stats.lognorm(0.5),
        stats.lognorm(0.25, scale=np.e),
    ]
    for found, distribution in zip(numbers, expected, strict=True):
        exact = found.astype(np.float64)
        assert stats.kstest(exact, distribution.cdf).pvalue > 1e-3
        error = distribution.std() / np.sqrt(count)
        assert abs(exact.mean() - distribution.mean()) < 4 * error
        assert abs(exact.var() / distribution.var() - 1) < 0.1
        assert abs(np.corrcoef(exact[:-1], exact[1:])[0, 1]) < 4 / np.sqrt(count)


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 2, (2**32 - 1,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0xA4093822, 0x299F31D0),
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_has_the_published_words(
    key: tuple[int, int], counter: tuple[int, int, int, int], expected: tuple[int, ...]
) -> None:
    """Known answers of Random123, which Salmon et al. (SC 2011) describe."""
    found = np.zeros(4, np.uint32)
    seed, low, high = (a | b << 32 for a, b in (key, counter[:2], counter[2:]))
    kernel = kc.load(KERNELS / "random_kernels.ptx")["kernelcast_philox_quads"]
    kernel.run(args=[found, seed, low, high], grid=1, block=1)
    assert tuple(found) == expected
    assert tuple(random_words.philox(seed, np.array([low], np.uint64), high)[0]) == expected


def test_libraries_with_a_runtime_of_their_own_are_named(tmp_path: Path) -> None:
    (tmp_path / "closed.c").write_text(
        "int closed(void) { return 1; }\n"
        '__asm__(".section .nv_fatbin,\\"a\\"\\n.long 1\\n.text");\n'
    )
    (tmp_path / "program.c").write_text("int closed(void);\nint main(void) { return closed(); }\n")
    library = tmp_path / "libcufft.so.11"
    command = [c_compiler(), "-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
    subprocess.run([*command, str(tmp_path / "closed.c"), "-o", str(library)], check=True)
    program = tmp_path / "program"
    command = [c_compiler(), str(tmp_path / "program.c"), str(library), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([*command, "-o", str(program)], check=True)
    devices = [load_device("a100-40gb")]
    for _ in ("there", "missing"):
        said = r"program is linked to libcufft\.so\.11, which has a CUDA runtime of its own"
        with pytest.raises(InputError, match=said):
            kc.capture_program([str(program)], devices)
        library.unlink(missing_ok=True)


def kernels_in(text: str) -> dict[str, int]:
    """Names of kernels in a PTX text and how many parameters each has."""
    found = re.findall(r"\.entry (\w+)\((.*?)\)", text, re.DOTALL)
    return {name: parameters.count(".param") for name, parameters in found}


if ALL_CASES:

    @pytest.mark.parametrize("source", sorted(KERNELS.glob("*.cu")), ids=lambda file: file.stem)
    def test_texts_are_of_the_sources(source: Path, tmp_path: Path) -> None:
        """Compilers differ in their registers; which kernels there are, they agree on."""
        to = tmp_path / "made.ptx"
        command = [nvcc(), "-arch=compute_75", "-ptx", str(source), "-o", str(to)]
        subprocess.run(command, check=True)
        assert kernels_in(to.read_text()) == kernels_in(source.with_suffix(".ptx").read_text())
