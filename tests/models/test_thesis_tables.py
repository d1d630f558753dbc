"""Every derived table of the thesis from its primary tables alone, to the printed digits.

Primary: metrics (4.4, 4.9, 5.10), parameters (5.16, 6.4) and measured rates (5.2, 6.2).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.models import ModelOptions, get_model
from kernelcast.models.estimate import Estimate
from kernelcast.models.quantitative_roofline.equations import (
    KernelParameters,
    instruction_weights,
    predict,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import KernelProfile, WorkType

ThesisTable = Callable[[str], list[dict[str, str]]]
MeasuredDevice = Callable[[str], Device]
ThesisProfile = Callable[[str], KernelProfile]

GPUS = ["GTX-480", "GTX-660", "GTX-960", "GTX-1060 6GB", "Tesla M2050", "Tesla K20c"]
SUFFIX_OF_TYPE = {WorkType.FP32: "fp32", WorkType.FP64: "fp64", WorkType.INT: "int"}

MISPRINTS = {
    # Table 5.7 of the same chapter was computed with the correct values.
    ("5.6", "Tesla M2050", "E_instr_percent"): "18.77",
    ("5.6", "GTX-1060 6GB", "E_instr_percent"): "72.67",
    # 4609.54 / 1533.61 = 3.0057.
    ("5.3", "GTX-1060 6GB", "W_op_int"): "3.01",
}


def agrees(value: float, printed: str) -> bool:
    """`value` rounds to `printed`: at most half a unit of the last printed digit away."""
    decimals = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5 * 10.0**-decimals * (1 + 1e-9)


def printed(table: str, row: dict[str, str], column: str) -> str:
    return MISPRINTS.get((table, row["gpu"], column), row[column])


def estimate(profile: KernelProfile, device: Device) -> Estimate:
    return get_model("quantitative-roofline")(profile, device, ModelOptions())


def number(found: Estimate, symbol: str) -> float:
    value = found[symbol]
    assert isinstance(value, float)
    return value


def parameters_of(row: dict[str, str]) -> KernelParameters:
    """A row of Table 5.16, or Table 6.4 turned into a row."""
    return KernelParameters(
        k_type=WorkType(row["K_type"]),
        w_comp_ops=float(row["W_comp"]),
        w_traf_bytes=float(row["W_traf"]),
        e_mix=float(row["E_mix"]) / 100,
        d_ops=float(row["D_ops"]) / 100,
        d_ldst=float(row["D_ldst"]) / 100,
        d_other=float(row["D_other"]) / 100,
    )


def rodinia_row(row: dict[str, str]) -> dict[str, str]:
    short = {"W_comp_ops": "W_comp", "W_traf_bytes": "W_traf"}
    return {short.get(key, key.removesuffix("_percent")): value for key, value in row.items()}


def by_parameter(rows: list[dict[str, str]]) -> dict[str, str]:
    return {row["parameter"]: row["value"] for row in rows}


def test_misprints_are_off_by_more_than_a_digit(thesis_table: ThesisTable) -> None:
    tables = {"5.6": "table_5_6_sor_costs", "5.3": "table_5_3_weights"}
    for (table, gpu, column), correct in MISPRINTS.items():
        row = next(row for row in thesis_table(tables[table]) if row["gpu"] == gpu)
        assert not agrees(float(correct), row[column])


@pytest.mark.parametrize(
    ("case", "table"),
    [
        ("sor", "table_4_5_sor_parameters"),
        ("sgemm", "table_4_10_sgemm_parameters"),
        ("lmsor", "table_5_11_lmsor_parameters"),
    ],
)
def test_kernel_parameters(
    case: str,
    table: str,
    thesis_table: ThesisTable,
    thesis_profile: ThesisProfile,
    measured_device: MeasuredDevice,
) -> None:
    """Tables 4.5, 4.10 and 5.11; W_comp and W_traf of the SOR kernels cover four launches."""
    found = estimate(thesis_profile(case), measured_device("GTX-480"))
    for row in thesis_table(table):
        symbol, value = row["parameter"], row["value"]
        if row["unit"] == "type":
            assert found[symbol] == value
        else:
            scale = 100 if row["unit"] == "percent" else 1
            assert agrees(scale * number(found, symbol), value), (symbol, found[symbol])


@pytest.mark.parametrize("gpu", [*GPUS, "R9 Nano"])
def test_shipped_devices_have_the_rates_of_tables_5_2_and_6_2(
    gpu: str, measured_device: MeasuredDevice
) -> None:
    of_tables = measured_device(gpu)
    assert load_device(of_tables.name).measured == of_tables.measured


def test_gtx_660_has_the_same_rates_in_tables_4_6_and_5_2(
    thesis_table: ThesisTable, measured_device: MeasuredDevice
) -> None:
    measured = measured_device("GTX-660").measured
    assert measured is not None
    rates = by_parameter(thesis_table("table_4_6_gtx660_parameters"))
    assert measured.fp32_ops_per_s == 1e9 * float(rates["T_SP"])
    assert measured.dram_bandwidth_bytes_per_s == 1e9 * float(rates["B_mem"])
    assert measured.load_store_ops_per_s == 1e9 * float(rates["T_ldst"])


@pytest.mark.parametrize(
    ("gpu", "table"),
    [("GTX-660", "table_4_7_gtx660_weights"), ("R9 Nano", "table_6_3_r9nano_weights")],
)
def test_weights_of_one_gpu(
    gpu: str, table: str, thesis_table: ThesisTable, measured_device: MeasuredDevice
) -> None:
    """Tables 4.7 and 6.3."""
    measured = measured_device(gpu).measured
    assert measured is not None
    for row in thesis_table(table):
        k_type = WorkType(row["kind"]) if row["weight"] == "W_op" else WorkType.FP32
        weights = instruction_weights(measured, k_type)
        found = {"W_op": weights.w_op, "W_ldst": weights.w_ldst, "W_other": weights.w_other}
        assert agrees(found[row["weight"]], row["value"]), row


@pytest.mark.parametrize("k_type", [WorkType.FP32, WorkType.FP64, WorkType.INT])
def test_table_5_3_weights(
    k_type: WorkType, thesis_table: ThesisTable, measured_device: MeasuredDevice
) -> None:
    for row in thesis_table("table_5_3_weights"):
        measured = measured_device(row["gpu"]).measured
        assert measured is not None
        weights = instruction_weights(measured, k_type)
        assert agrees(weights.w_op, printed("5.3", row, f"W_op_{SUFFIX_OF_TYPE[k_type]}")), row
        assert agrees(weights.w_ldst, row["W_ldst"]), row
        assert agrees(weights.w_other, row["W_other"]), row


def test_table_5_6_costs_of_sor(
    thesis_table: ThesisTable, thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    for row in thesis_table("table_5_6_sor_costs"):
        found = estimate(thesis_profile("sor"), measured_device(row["gpu"]))
        for symbol in ("C_op", "C_ldst", "C_other"):
            assert agrees(number(found, symbol), row[symbol]), (row, symbol)
        efficiency = printed("5.6", row, "E_instr_percent")
        assert agrees(100 * number(found, "E_instr"), efficiency), row


def test_table_5_7_prediction_of_sor(
    thesis_table: ThesisTable, thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    for row in thesis_table("table_5_7_sor_prediction"):
        found = estimate(thesis_profile("sor"), measured_device(row["gpu"]))
        assert agrees(number(found, "T_op") / 1e9, row["T_op_GFLOPS"])
        assert agrees(number(found, "T_op_adj") / 1e9, row["T_op_adj_GFLOPS"]), row
        assert agrees(number(found, "B_mem") / 1e9, row["B_mem_GB_per_s"])
        assert agrees(number(found, "O_dev"), row["O_dev_ops_per_byte"]), row
        assert found["bound"] == ("compute" if row["compute_bound"] == "True" else "memory")
        assert agrees(number(found, "GFLOPS"), row["T_predicted_GFLOPS"]), row


@pytest.mark.parametrize(
    ("case", "table"),
    [
        ("sor", "table_5_9_sor_times"),
        ("lmsor", "table_5_12_lmsor_times"),
        ("sgemm", "table_5_14_sgemm_times"),
    ],
)
def test_predicted_times(
    case: str,
    table: str,
    thesis_table: ThesisTable,
    thesis_profile: ThesisProfile,
    measured_device: MeasuredDevice,
) -> None:
    """Tables 5.9, 5.12 and 5.14; the thesis computed some last digits from rounded inputs."""
    rows = thesis_table(table)
    assert [row["gpu"] for row in rows] == GPUS
    for row in rows:
        found = estimate(thesis_profile(case), measured_device(row["gpu"]))
        predicted_s = float(row["predicted_ms"]) / 1e3
        assert agrees(1e3 * found.time_s, row["predicted_ms"]) or found.time_s == pytest.approx(
            predicted_s, rel=1e-4
        ), row
        error = 100 * (found.time_s / (float(row["measured_ms"]) / 1e3) - 1)
        assert error == pytest.approx(float(row["error_percent"]), abs=0.02), row


def test_table_6_5_times_on_the_r9_nano(
    thesis_table: ThesisTable, thesis_profile: ThesisProfile, measured_device: MeasuredDevice
) -> None:
    """SOR from Table 4.4, SGEMM from Table 6.4, lvmd-krn from Table 5.16."""
    device = measured_device("R9 Nano")
    assert device.measured is not None
    sgemm16 = by_parameter(thesis_table("table_6_4_sgemm16_parameters"))
    lvmd = next(
        row for row in thesis_table("table_5_16_rodinia_parameters") if row["kernel"] == "lvmd-krn"
    )
    found_ms = {
        "red/black SOR": 1e3 * estimate(thesis_profile("sor"), device).time_s,
        "SGEMM": 1e3 * predict(parameters_of(sgemm16), device.measured).time_s,
        "lvmd-krn": 1e3 * predict(parameters_of(rodinia_row(lvmd)), device.measured).time_s,
    }
    rows = thesis_table("table_6_5_r9nano_times")
    assert {row["benchmark"] for row in rows} == set(found_ms)
    for row in rows:
        assert agrees(found_ms[row["benchmark"]], row["predicted_ms"]), (row, found_ms)


def test_operational_intensities(thesis_table: ThesisTable) -> None:
    """O_krn of the 28 Rodinia kernels (Table 5.16) and of SGEMM with 16x16 tiles (Table 6.4)."""
    rows = [rodinia_row(row) for row in thesis_table("table_5_16_rodinia_parameters")]
    assert len(rows) == 28
    for row in rows:
        assert agrees(parameters_of(row).o_krn, row["O_krn_ops_per_byte"]), row["kernel"]
    sgemm16 = by_parameter(thesis_table("table_6_4_sgemm16_parameters"))
    assert agrees(parameters_of(sgemm16).o_krn, sgemm16["O_krn"])


def test_memory_bound_fp32_kernels_of_rodinia_on_the_gtx_480(
    thesis_table: ThesisTable, measured_device: MeasuredDevice
) -> None:
    """Section 5.2.5: only these four of the fp32 kernels are memory bound by the model."""
    measured = measured_device("GTX-480").measured
    assert measured is not None
    rows = [rodinia_row(row) for row in thesis_table("table_5_16_rodinia_parameters")]
    memory_bound = {
        row["kernel"]
        for row in rows
        if row["K_type"] == "fp32" and predict(parameters_of(row), measured).is_memory_bound
    }
    assert memory_bound == {"bp-adj", "e3d-step", "hs-srtf", "km-pt"}
