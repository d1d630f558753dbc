"""Run programs of other projects, unchanged, under `kernelcast capture`.

The programs come from source distributions of fixed versions, which pip fetches, and from the
installed Numba-CUDA. Nothing of them is kept in this repository. The table of all attempts, failed
ones too, is docs/captured-programs.md:

    python validation/captured_programs.py --write
"""

import argparse
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ATTEMPTS = ROOT / "validation" / "captured_programs.toml"
TABLE = ROOT / "docs" / "captured-programs.md"
DEVICE = "a100-40gb"
LEAST_RIGHT = 10
LEAST_PROJECTS = 3

HEADING = """# Captured programs of other projects

Programs of other projects, run unchanged under `kernelcast capture --device {device}` by
`python validation/captured_programs.py --write`, which also writes this file; `make test-all` runs
them and leaves the file alone. Every attempt of
`validation/captured_programs.toml` is listed, those that fail too.
`right` means that the program's own checks pass: its assertions or its tests. `ran` means that it
ends well but checks nothing. Seconds are those on the machine that wrote this, the start of Python
included.

{counts}

| project | program | outcome | launches | seconds | remark |
|---|---|---|---:|---:|---|
"""


@dataclass(frozen=True)
class Attempt:
    """A program of a project, how it is started and whether it checks its results."""

    project: str
    arguments: list[str]
    checks: bool = True
    # Why it is not tried, and what is known of a failure.
    not_tried: str = ""
    remark: str = ""

    @property
    def name(self) -> str:
        """Arguments without what every Python test needs."""
        return " ".join(self.arguments).removeprefix("-P ").removeprefix("-m ")


@dataclass(frozen=True)
class Outcome:
    """What became of an attempt."""

    attempt: Attempt
    version: str
    word: str
    launches: int = 0
    seconds: float = 0.0
    reason: str = ""

    @property
    def row(self) -> str:
        """The line in the table."""
        tried = not self.attempt.not_tried
        remark = "; ".join(filter(None, (self.reason, self.attempt.remark))).replace("|", "\\|")
        launches = f"{self.launches:,}" if tried else ""
        seconds = f"{self.seconds:.0f}" if tried else ""
        return (
            f"| {self.attempt.project} {self.version} | {self.attempt.name} | {self.word} "
            f"| {launches} | {seconds} | {remark} |"
        )


def pip(*arguments: str, **environment: str) -> bool:
    """Run pip and tell whether it succeeded."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}).returncode == 0


def fetch_sources(project: str, version: str, cache: Path) -> Path | None:
    """Folder of a project's source distribution, fetched unless the cache has it."""
    found = _unpacked(project, version, cache)
    if found is None:
        wanted = f"{project}=={version}"
        if not pip("download", "--no-deps", "--no-binary", project, "--dest", str(cache), wanted):
            return None
        for archive in cache.glob(f"{project.replace('-', '?')}-{version}.tar.gz"):
            with tarfile.open(archive) as file:
                file.extractall(cache, filter="data")
        found = _unpacked(project, version, cache)
    return found


def _unpacked(project: str, version: str, cache: Path) -> Path | None:
    folders = (
        path for path in cache.glob(f"{project.replace('-', '?')}-{version}") if path.is_dir()
    )
    return next(folders, None)


def install_packages(requirements: list[str], cache: Path) -> Path:
    """Folder with the packages that the programs import beside those of the environment."""
    target = cache / "packages"
    home = _configure_pycuda(cache)
    for requirement in requirements:
        name, _, version = requirement.partition("==")
        if not list(target.glob(f"{name.replace('-', '?')}-{version}.dist-info")):
            pip(
                "install",
                "--no-deps",
                "--target",
                str(target),
                requirement,
                HOME=str(home),
                LDFLAGS="-Wl,--no-as-needed",
            )
    return target


def _configure_pycuda(cache: Path) -> Path:
    """Write what PyCUDA's build wants: where CUDA is, no cuRAND, an empty libcuda."""
    home = cache / "home"
    home.mkdir(exist_ok=True)
    link = [
        "cc",
        "-shared",
        "-x",
        "c",
        os.devnull,
        "-o",
        str(home / "libcuda.so"),
        "-Wl,-soname,libcuda.so.1",
    ]
    subprocess.run(link, check=False)
    (home / ".aksetup-defaults.py").write_text(
        f"CUDA_ROOT = {str(cuda_root())!r}\n"
        "CUDA_ENABLE_CURAND = False\n"
        f"CUDADRV_LIB_DIR = [{str(home)!r}]\n"
    )
    return home


def cuda_root() -> Path:
    """Folder of the CUDA toolkit: that of nvcc on the path, or the newest of the usual ones."""
    nvcc = shutil.which("nvcc")
    if nvcc:
        return Path(nvcc).resolve().parent.parent
    return max(Path("/usr/local").glob("cuda-*"), default=Path("/usr/local/cuda"))


def run_attempt(attempt: Attempt, folder: Path, packages: Path, seconds: int) -> Outcome:
    """Run one program under capture and judge it."""
    program = [sys.executable, *attempt.arguments]
    command = [
        sys.executable,
        "-m",
        "kernelcast",
        "capture",
        "--json",
        "--device",
        DEVICE,
        "--",
        *program,
    ]
    paths = [str(ROOT), str(packages), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([os.environ.get("PATH", ""), str(cuda_root() / "bin")]),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYOPENCL_CTX": "0",
        "MPLBACKEND": "agg",
    }
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    is_late = False
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        is_late = True
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
    return _judge(attempt, (output, errors), time.monotonic() - start, seconds if is_late else 0)


def _judge(attempt: Attempt, texts: tuple[str, str], took: float, limit: int) -> Outcome:
    version = ""
    if limit:
        return Outcome(attempt, version, "failed", 0, took, f"not done in {limit} s")
    output, errors = texts
    try:
        report = json.loads(output)
    except ValueError:
        return Outcome(attempt, version, "failed", 0, took, _last_line(errors))
    launches = len(report["launches"])
    if report["exit_status"] or report["failed"]:
        return Outcome(attempt, version, "failed", launches, took, _reason(report, errors))
    if attempt.checks and not launches:
        return Outcome(attempt, version, "failed", 0, took, "nothing was launched")
    return Outcome(attempt, version, "right" if attempt.checks else "ran", launches, took)


def _reason(report: dict[str, object], errors: str) -> str:
    refused = report.get("refused")
    text = _last_line(errors)
    if isinstance(refused, dict) and refused:
        text += f" (refused: {', '.join(refused)})"
    return text


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or line.startswith("FAILED")]
    return (telling or lines or ["no output"])[-1][:160]


def read_attempts() -> tuple[dict[str, str], list[str], list[Attempt]]:
    """Read the versions of the projects, the packages needed and the attempts."""
    facts = tomllib.loads(ATTEMPTS.read_text())
    return facts["versions"], facts["packages"], [Attempt(**entry) for entry in facts["program"]]


def installed_version(project: str) -> str:
    """Version of an installed distribution, or nothing."""
    try:
        return importlib.metadata.version(project)
    except importlib.metadata.PackageNotFoundError:
        return ""


def run_all(cache: Path, pattern: str, seconds: int) -> list[Outcome]:
    """Fetch what is needed and run the attempts whose name or project contains the pattern."""
    versions, requirements, attempts = read_attempts()
    packages = install_packages(requirements, cache)
    outcomes = []
    for attempt in attempts:
        if pattern not in f"{attempt.project} {attempt.name}":
            continue
        outcome = attempt_one(attempt, versions.get(attempt.project, ""), cache, packages, seconds)
        sys.stdout.write(outcome.row + "\n")
        sys.stdout.flush()
        outcomes.append(outcome)
    return outcomes


def attempt_one(
    attempt: Attempt, version: str, cache: Path, packages: Path, seconds: int
) -> Outcome:
    """Run an attempt in its project's folder; an installed project needs none."""
    shown = version or installed_version(attempt.project)
    if attempt.not_tried:
        return Outcome(attempt, shown, "not tried", reason=attempt.not_tried)
    folder = fetch_sources(attempt.project, version, cache) if version else cache
    if folder is None:
        return Outcome(attempt, shown, "not fetched")
    result = run_attempt(attempt, folder, packages, seconds)
    return Outcome(attempt, shown, result.word, result.launches, result.seconds, result.reason)


def table(outcomes: list[Outcome]) -> str:
    """Markdown of all outcomes."""
    words = [outcome.word for outcome in outcomes]
    projects = {outcome.attempt.project for outcome in outcomes if outcome.word == "right"}
    others = len(words) - sum(map(words.count, ("right", "ran", "failed")))
    counts = (
        f"Of {len(words)} programs, {words.count('right')} of {len(projects)} projects are right, "
        f"{words.count('ran')} ran, {words.count('failed')} failed, and {others} were not tried."
    )
    rows = "\n".join(outcome.row for outcome in outcomes)
    return HEADING.format(device=DEVICE, counts=counts) + rows + "\n"


def complaint(outcomes: list[Outcome], pattern: str) -> str:
    """What is too little, in one line; the table has every single failure."""
    right = [outcome for outcome in outcomes if outcome.word == "right"]
    projects = {outcome.attempt.project for outcome in right}
    if pattern or (len(right) >= LEAST_RIGHT and len(projects) >= LEAST_PROJECTS):
        return ""
    return f"only {len(right)} programs of {len(projects)} projects are right"


def main() -> None:
    """Run the programs and write the table if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, help="folder that keeps what was fetched")
    parser.add_argument(
        "--only", default="", help="run the programs whose project and name contain this"
    )
    parser.add_argument("--seconds", type=int, default=180, help="time limit of one program")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="captured-programs-") as temporary:
        cache = (arguments.cache or Path(temporary)).resolve()
        cache.mkdir(parents=True, exist_ok=True)
        outcomes = run_all(cache, arguments.only, arguments.seconds)
    if arguments.write:
        TABLE.write_text(table(outcomes))
    sys.exit(complaint(outcomes, arguments.only) or 0)


if __name__ == "__main__":
    main()
