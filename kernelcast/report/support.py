"""What `kernelcast support` found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelcast.inputs.support import FileSupport, KernelSupport, Missing
    from kernelcast.inputs.support_survey import Survey

__all__ = ["support_record", "support_report"]


def support_record(survey: Survey) -> dict[str, Any]:
    """Supported kernels, and what keeps others from running, as a record."""
    return {
        "kernels": len(survey.kernels),
        "supported": survey.supported,
        "unreadable_files": survey.unreadable,
        "reasons": [{"missing": name, "kernels": count} for name, count in survey.reasons()],
        "files": [_file_record(file) for file in survey.files],
    }


def _file_record(file: FileSupport) -> dict[str, Any]:
    return {
        "path": file.path,
        "note": file.note or None,
        "unreadable": file.unreadable and _missing_record(file.unreadable),
        "damaged": [_missing_record(item) for item in file.damaged],
        "kernels": [
            {
                "name": kernel.name,
                "supported": kernel.is_supported,
                "engine": kernel.engine or None,
                "code": kernel.code or "source",
                "missing": [_missing_record(item) for item in kernel.missing],
            }
            for kernel in file.kernels
        ],
    }


def _missing_record(missing: Missing) -> dict[str, Any]:
    return {
        "message": missing.message,
        "place": missing.place or None,
        "opcode": missing.opcode or None,
        "address": missing.address,
    }


def support_report(survey: Survey) -> str:
    """The report on kernels: a line each with its reasons below it, then the summary."""
    lines = [line for file in survey.files for line in _file_lines(file)]
    return "\n".join([*lines, "", *_summary(survey)])


def _file_lines(file: FileSupport) -> Iterator[str]:
    yield file.path
    if file.unreadable is not None:
        yield f"  unreadable: {_placed(file.unreadable)}"
    yield from (f"  damaged: {_placed(item)}" for item in file.damaged)
    if not file.kernels and file.unreadable is None:
        yield "  no kernels"
    if file.note:
        yield f"  {file.note}"
    for kernel in file.kernels:
        yield f"  {kernel.name}: {_verdict(kernel)}"
        yield from (f"    {_placed(item)}" for item in kernel.missing)


def _verdict(kernel: KernelSupport) -> str:
    if not kernel.is_supported:
        return "not supported"
    code = f" as machine code for {kernel.code}" if kernel.code else ""
    engine = "" if kernel.engine == "jit" else f", by the {kernel.engine} engine"
    return f"supported{code}{engine}"


def _placed(missing: Missing) -> str:
    return f"{missing.place}: {missing.message}" if missing.place else missing.message


def _summary(survey: Survey) -> Iterator[str]:
    kernels, files = len(survey.kernels), len(survey.files)
    share = f" ({survey.supported / kernels:.1%})" if kernels else ""
    unreadable = f", {survey.unreadable} of them unreadable" if survey.unreadable else ""
    yield (
        f"{survey.supported} of {kernels} kernel{_s(kernels)} supported{share} "
        f"in {files} file{_s(files)}{unreadable}"
    )
    for reason, count in survey.reasons():
        yield f"  {count} kernel{_s(count)}: {reason}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
