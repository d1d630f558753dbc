"""The registry of models: built-in ones, installed ones, and names that nobody has."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

import kernelcast.models
from kernelcast.errors import UnknownModel
from kernelcast.models import MODELS, get_model, needs_paths
from kernelcast.models.quantitative_roofline.model import quantitative_roofline
from kernelcast.models.roofline.model import roofline


def install(monkeypatch: pytest.MonkeyPatch, **models: str) -> None:
    points = EntryPoints(
        EntryPoint(name.replace("_", "-"), value, "kernelcast.models")
        for name, value in models.items()
    )

    def find(group: str) -> EntryPoints:
        assert group == "kernelcast.models"
        return points

    monkeypatch.setattr(kernelcast.models, "entry_points", find)
    # what was found before is remembered
    look = vars(kernelcast.models)["_installed"].__wrapped__
    monkeypatch.setattr(kernelcast.models, "_installed", look)


def test_built_in_models() -> None:
    assert set(MODELS) >= {"roofline", "quantitative-roofline"}
    assert len(MODELS) == len(list(MODELS))
    assert get_model("roofline") is roofline
    assert get_model("quantitative-roofline") is quantitative_roofline


def test_installed_model_is_imported_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        monkeypatch,
        mine="kernelcast.models.roofline.model:roofline",
        broken="no_such_package:model",
    )
    assert list(MODELS)[-2:] == ["mine", "broken"]
    assert get_model("mine") is roofline
    refusal = "model 'broken' is installed as no_such_package:model but cannot be imported: Module"
    with pytest.raises(UnknownModel, match=refusal):
        get_model("broken")


def test_installed_model_cannot_replace_a_built_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, roofline="no_such_package:model")
    assert get_model("roofline") is roofline
    assert list(MODELS).count("roofline") == 1


def test_unknown_model_names_the_nearest() -> None:
    with pytest.raises(UnknownModel, match="did you mean roofline") as raised:
        get_model("rofline")
    assert "'rofline'" in str(raised.value)
    with pytest.raises(UnknownModel, match=r"no model 'zzz'; known are"):
        get_model("zzz")


def test_models_say_whether_they_need_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, simulating="kernelcast.models.interval.model:interval")
    assert needs_paths("simulating")
    assert not needs_paths("roofline")
    with pytest.raises(UnknownModel):
        needs_paths("rofline")
