"""The programs that are captured: how each is built, and how many launches it makes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.kernelcast.program_capture.building import PROGRAMS, built

__all__ = ["CASES", "Case", "case_named"]


@dataclass(frozen=True)
class Case:
    """One program: `launches` it makes, at least so many where `is_least`.

    `sources` by their names, as the case is called unless given. `device` is what it sees.
    """

    name: str
    launches: int
    flags: tuple[str, ...] = ("-arch=sm_80",)
    sources: tuple[str, ...] = ()
    device: str = "a100-40gb"
    is_least: bool = False
    is_machine_code: bool = False
    """Whether the program has no PTX."""
    is_drawn: bool = False
    """Whether `make test` has it."""

    @property
    def program(self) -> Path:
        """The program, which is built if need be."""
        names = self.sources or (f"{self.name}.cu",)
        return built(self.name, [PROGRAMS / name for name in names], self.flags)


_ADD = ("vector_add.cu",)
_CUBINS = tuple(f"-gencode=arch=compute_{number},code=sm_{number}" for number in (75, 80, 90))
_SEVERAL = (*_CUBINS, "-gencode=arch=compute_75,code=compute_75")
CASES = (
    Case("vector_add", 1, is_drawn=True),
    Case("reduction", 3),
    Case("streams_events", 5, is_drawn=True),
    Case("captured_graph", 12, is_drawn=True),
    Case("explicit_graph", 4, is_drawn=True),
    Case("constants", 2, is_drawn=True),
    Case("unused_variables", 2),
    Case("linked_list", 3),
    Case("managed", 1, is_drawn=True),
    Case("pinned", 3),
    Case("cooperative", 2, is_drawn=True),
    Case("clusters", 2, ("-arch=sm_90",), device="h100-sxm"),
    Case("thrust_algorithms", 5, is_least=True),
    Case("cub_device_wide", 3, is_least=True),
    Case(
        "separate",
        2,
        ("-arch=sm_80", "-rdc=true"),
        ("separate_main.cu", "separate_other.cu"),
        is_drawn=True,
    ),
    Case("jacobi", 2020),
    Case("gauss", 94),
    Case("bfs", 6, is_least=True),
    Case("printing", 4, is_drawn=True),
    Case("device_heap", 3),
    Case("large_shared", 1),
    Case("function_attributes", 1),
    Case("device_properties", 1, is_drawn=True),
    Case("pitched_copies", 2),
    Case("pools", 4, is_drawn=True),
    Case("templates", 4, ("-arch=sm_80", "--extended-lambda")),
    Case("tensor_cores", 2),
    Case("nbody", 4),
    Case("histogram", 2),
    Case("callbacks", 1),
    Case("many_devices", 1),
    Case("per_thread_streams", 30, ("-arch=sm_80", "--default-stream", "per-thread")),
    Case("textures", 1, is_drawn=True),
    Case("surfaces", 3),
    Case("warp_functions", 3),
    Case("async_copies", 2),
    Case("look_back", 1),
    Case("math_functions", 1),
    Case("odd_arguments", 4),
    Case("handles", 105, is_drawn=True),
    Case("runtime_in_c", 0, sources=("runtime_in_c.c",)),
    Case("only_ptx", 1, ("-gencode=arch=compute_80,code=compute_80",), _ADD),
    Case("only_cubin", 1, ("-gencode=arch=compute_80,code=sm_80",), _ADD, is_machine_code=True),
    Case("several_architectures", 1, (*_SEVERAL, "-compress-mode=none"), _ADD),
    Case("compressed", 1, (*_SEVERAL, "-compress-mode=size"), _ADD),
    Case("compressed_cubins", 1, (*_CUBINS, "-compress-mode=size"), _ADD, is_machine_code=True),
    Case("usual_architecture", 1, (), _ADD),
    Case("debugging", 3, ("-arch=sm_80", "-G"), ("reduction.cu",)),
)


def case_named(name: str) -> Case:
    """One of the programs."""
    return next(case for case in CASES if case.name == name)
