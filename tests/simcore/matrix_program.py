"""A kernel of one matrix instruction: every lane's registers come from and go to memory."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
LANES = 32


def program(
    mnemonic: str, bits: tuple[int, ...], counts: tuple[int, ...], target: str, tail: str = ""
) -> str:
    """PTX that calls `mnemonic` with fragments D, A, B, C (and metadata) of `counts` registers.

    Register r of lane l of the n-th source is element `r * 32 + l` of the n-th buffer.
    """
    names = [f"p{n}" for n in range(len(counts))]
    parameters = ", ".join(f".param .u64 {name}" for name in names)
    lines = [
        f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k({parameters})\n{{"
    ]
    lines.append(".reg .b64 %rd<8>; .reg .b32 %r<4>; mov.u32 %r0, %tid.x;")
    groups = []
    for n, (width, count) in enumerate(zip(bits, counts, strict=True)):
        lines.append(f".reg .b{width} %f{n}_<{count}>;")
        size = width // 8
        lines.append(f"ld.param.u64 %rd{n}, [p{n}]; cvta.to.global.u64 %rd{n}, %rd{n};")
        lines.append(f"mad.wide.u32 %rd{n}, %r0, {size}, %rd{n};")
        registers = [f"%f{n}_{r}" for r in range(count)]
        if n:
            lines += [
                f"ld.global.b{width} {x}, [%rd{n}+{LANES * size * r}];"
                for r, x in enumerate(registers)
            ]
        groups.append("{" + ", ".join(registers) + "}" if n < 4 else registers[0])
    lines.append(f"{mnemonic} {', '.join(groups)}{tail};")
    size = bits[0] // 8
    lines += [f"st.global.b{bits[0]} [%rd0+{LANES * size * r}], %f0_{r};" for r in range(counts[0])]
    lines.append("ret;\n}")
    return "\n".join(lines)


def run(source: str, buffers: list[Array], engine: str, threads: int = LANES) -> Any:
    """Runs the kernel `k`; buffers are changed in place. The trace."""
    module = read_ptx(source, "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    launch = Launch((1, 1, 1), (threads, 1, 1), tuple(buffers))
    return execute(module.kernels["k"], launch, engine=engine)
