"""Lists, ranges and samples of what a sweep varies."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import sobol_indices, uniform

from kernelcast.errors import InputError
from kernelcast.studies.designs import morris, sobol
from kernelcast.studies.plan_file import read_plan
from kernelcast.studies.values import Interval, Sample, Space, range_values

EXAMPLES = Path(__file__).parents[3] / "examples"
KERNEL = f'[[kernels]]\nworkload = "{EXAMPLES}/saxpy/saxpy.toml"\n'


def test_ranges_go_from_end_to_end() -> None:
    assert range_values(Interval(1, 3), 5) == (1, 1.5, 2, 2.5, 3)
    assert range_values(Interval(1, 100, is_log=True), 3) == pytest.approx((1, 10, 100))
    assert range_values(Interval(2, 9, step=3), None) == (2, 5, 8)
    assert range_values(Interval(0.1, 0.3, step=0.1), None) == pytest.approx((0.1, 0.2, 0.3))
    assert range_values(Interval(10, 50, step=16), 3) == (16, 32, 48)


def test_all_combinations_in_the_order_of_the_names() -> None:
    space = Space({"a": (1, 2), "b": ("x", "y")})
    assert [tuple(point.values()) for point in space.points()] == [
        (1, "x"), (1, "y"), (2, "x"), (2, "y"),
    ]  # fmt: skip
    assert space.size == 4
    assert list(Space().points()) == [{}]


@pytest.mark.parametrize("method", ["random", "latin-hypercube", "sobol", "morris"])
def test_samples_come_again_for_the_same_seed_only(method: str) -> None:
    of: dict[str, Interval | tuple[int, ...]] = {
        "a": Interval(1, 10),
        "b": (1, 2, 3),
        "c": Interval(8, 64, step=8),
    }
    first, again = (list(Sample(of, 8, method, 3).points()) for _ in range(2))
    other = list(Sample(of, 8, method, 4).points())
    assert first == again != other
    assert len(first) == Sample(of, 8, method).size
    for point in first:
        assert 1 <= float(point["a"]) <= 10
        assert point["b"] in (1, 2, 3)
        assert float(point["c"]) % 8 == 0


def test_a_latin_hypercube_has_one_point_in_each_stratum() -> None:
    points = list(Sample({"a": Interval(0, 10), "b": Interval(0, 10)}, 10).points())
    for name in ("a", "b"):
        assert sorted(int(float(point[name])) for point in points) == list(range(10))


def test_saltellis_design_is_scipys() -> None:
    """An estimator on our rows finds the indices that SciPy finds on its own."""
    shares = sobol(2, 1024, 0)
    values = 4 * shares[:, 0] + 2 * shares[:, 1] ** 2
    a, b, mixed = values[:1024], values[1024:2048], values[2048:].reshape(2, 1024)
    first = [float(np.mean(b * (item - a)) / np.var(values[:2048])) for item in mixed]
    theirs = sobol_indices(
        func=lambda x: 4 * x[0] + 2 * x[1] ** 2, n=4096, dists=[uniform(), uniform()], rng=0
    )
    assert first == pytest.approx(list(theirs.first_order), abs=0.02)


def test_trajectories_change_one_quantity_after_the_other() -> None:
    rows = morris(3, 5, 0).reshape(5, 4, 3)
    steps = np.diff(rows, axis=1)
    assert (np.count_nonzero(np.abs(steps) > 1e-9, axis=2) == 1).all()
    assert np.abs(steps).max(axis=2) == pytest.approx(np.full((5, 3), 2 / 3))
    assert (np.abs(steps).sum(axis=1) > 0).all()
    assert rows.min() >= -1e-12
    assert rows.max() <= 1 + 1e-12


def plan_error(folder: Path, text: str) -> str:
    file = folder / "plan.toml"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        read_plan(file)
    message = raised.value.message
    assert "\n" not in message
    assert str(file) in message
    return message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('devices = ["a100-40gb"]', "at least one kernel"),
        (KERNEL, "at least one device"),
        (f'devices = ["a100-40g"]\n{KERNEL}', "a100-40gb"),
        (f'devices = ["z*"]\n{KERNEL}', "no device is like 'z*'"),
        (f'devices = ["a100-40gb"]\nmodels = ["no"]\n{KERNEL}', "no model 'no'"),
        (f'devices = ["a100-40gb"]\nmodel = ["no"]\n{KERNEL}', "is not a known key"),
        (f'devices = ["a100-40gb"]\n{KERNEL}{KERNEL}', "give each a name"),
        (f'devices = ["a100-40gb"]\ncode = "x"\n{KERNEL}', "unknown code"),
        (f'devices = ["a100-40gb"]\n{KERNEL}vary = {{ n = [] }}', "there are no values"),
        (f'devices = ["a100-40gb"]\n{KERNEL}vary = {{ n = {{ from = 2, to = 1 }} }}', "larger"),
        (f'devices = ["a100-40gb"]\n{KERNEL}vary = {{ n = {{ from = 2, to = 3 }} }}', "count"),
        (
            f'devices = ["a100-40gb"]\n{KERNEL}[architecture.vary]\ndram.band = [1]',
            "no fact 'dram.band'",
        ),
        (
            f'devices = ["a100-40gb"]\n{KERNEL}[architecture.sample]\ncount = 2\nmethod = "x"\n'
            "of = { l2.capacity = [1] }",
            "no sampling is called 'x'",
        ),
        ('devices = ["a100-40gb"]\n[[kernels]]\nworkload = "none.toml"', "no file"),
        ('devices = ["a100-40gb"]\n[[kernels]]\nname = "none"', "must have one of"),
        ('devices = ["a100-40gb"]\n[[kernels]]\npython = "plan.toml"', "file.py:function"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    assert message in plan_error(tmp_path, text)


def test_a_plan_as_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(
        f"""
        models = ["roofline", "quantitative-roofline"]
        devices = ["a100-*", "v100-pcie"]
        {KERNEL}
        [kernels.vary]
        block = [[32, 4], 256]
        [architecture]
        vary = {{ l2.capacity = ["20Mi", "none"] }}
        [architecture.sample]
        count = 3
        of = {{ dram.bandwidth = {{ from = "1T", to = "4T", scale = "log" }} }}
        """
    )
    plan = read_plan(file)
    assert [item.base.name for item in plan.swept_devices[::7]] == [
        "a100-40gb",
        "a100-80gb",
        "v100-pcie",
    ]
    assert plan.points == 2 * (3 * (1 + 2 * 3)) * 2
    assert plan.kernels[0].launches.axes == {"block": ("32x4", 256)}
    assert plan.changes.axes == {"l2.capacity": (20 * 1024**2, "none")}
    assert math.isclose(
        math.prod(float(item.changes["dram.bandwidth"]) for item in plan.swept_devices[1:4])
        ** (1 / 3),
        2e12,
        rel_tol=0.35,
    )
