"""One launch of a program as a workload file of its own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kernelcast.errors import InputError
from kernelcast.program_capture.options import NextLaunch
from kernelcast.simcore.isa.ir.kernel import Parameter
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.workload.memory_snapshot import write_snapshot

__all__ = ["LaunchExtraction"]

_WORD = np.dtype("<u8")


def _write_workload(path: Path, launch: NextLaunch) -> None:
    """Writes the workload, and beside it the code and the memory that the launch can reach.

    Allocations count as reached when a parameter, a variable or another such allocation holds a
    number that is an address in them. InputError when a file cannot be written.
    """
    function, request, parameters = launch.function, launch.request, launch.parameters
    variables = launch.variables
    code = path.with_suffix(function.file.suffix)
    contents = path.with_suffix(".npz")
    roots = [np.frombuffer(parameters.ljust(-(-len(parameters) // 8) * 8, b"\0"), np.uint8)]
    roots += [variable.bytes for variable in variables.values()]
    own = {item.address for item in variables.values()}
    reached = {at: it for at, it in _reached(launch.memory, roots).items() if at not in own}
    write_snapshot(contents, reached, variables)
    lines = [
        f"# One launch of {function.kernel.name}, as a program made it.",
        "[kernel]",
        f'source = "{code.name}"',
        f'entry = "{function.kernel.name}"',
        *([f'arch = "{function.architecture}"'] if function.architecture else []),
        "",
        "[memory]",
        f'file = "{contents.name}"',
        "",
        "[launch]",
        f"grid = {list(request.grid)}",
        f"block = {list(request.block)}",
        f"shared_bytes = {request.shared_bytes}",
        *([f"cluster = {list(request.cluster)}"] if request.cluster else []),
    ]
    for item in function.kernel.kernel.parameters:
        lines += _argument(item, parameters[item.offset : item.offset + item.size])
    try:
        shutil.copyfile(function.file, code)
        path.write_text("\n".join(lines) + "\n")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _argument(parameter: Parameter, content: bytes) -> list[str]:
    """A number where TOML can say it exactly, else bytes."""
    lines = ["", "[[args]]", f'name = "{parameter.name}"']
    if parameter.is_struct or not parameter.type.is_integer or parameter.size not in (4, 8):
        return [*lines, f'type = "bytes[{parameter.size}]"', f'value = "{content.hex()}"']
    number = int.from_bytes(content, "little")
    value = hex(number) if parameter.size == 8 and number >> 32 else str(number)
    if number >> 63:  # beyond what TOML holds
        return [*lines, 'type = "bytes[8]"', f'value = "{content.hex()}"']
    return [*lines, f'type = "u{8 * parameter.size}"', f"value = {value}"]


def _reached(memory: DeviceMemory, roots: list[npt.NDArray[np.uint8]]) -> dict[int, Allocation]:
    """The allocations that numbers in bytes point to, and those that numbers in these do."""
    known = [item for item in memory.allocations if item.size]
    if not known:
        return {}
    firsts = np.array([item.address for item in known], _WORD)
    ends = np.array([item.end for item in known], _WORD)
    found: dict[int, Allocation] = {}
    waiting = list(roots)
    while waiting:
        content = waiting.pop()
        words = content[: content.size // 8 * 8].view(_WORD)
        words = words[(words >= firsts[0]) & (words < ends[-1])]
        place = np.searchsorted(firsts, words, side="right") - 1
        inside = words < ends[place]
        for number in np.unique(place[inside]):
            item = known[int(number)]
            if item.address not in found:
                found[item.address] = item
                waiting.append(item.bytes)
    return found


@dataclass
class LaunchExtraction:
    """Waits for launch `number` of a program, from 0 on, and writes it to `path`."""

    number: int
    path: Path
    is_done: bool = False

    def __call__(self, launch: NextLaunch) -> None:
        """A launch is about to be made; InputError where it cannot be written."""
        if not self.is_done and launch.number == self.number:
            self.is_done = True
            _write_workload(self.path, launch)
