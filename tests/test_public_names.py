"""`__all__` of the package and of every module: sorted, complete, and importable."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import kernelcast

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(kernelcast.__path__, "kernelcast.")
    if not module.name.endswith("__main__")
)

NEEDS = {"kernelcast.torch_modules.library_kernels": "triton"}
"""What a module is written in, where an installation does not bring it."""


def test_public_names_are_sorted_and_exist() -> None:
    assert list(kernelcast.__all__) == sorted(kernelcast.__all__)
    for name in kernelcast.__all__:
        assert getattr(kernelcast, name) is not None


def test_dir_offers_all_public_names() -> None:
    assert set(kernelcast.__all__) <= set(dir(kernelcast))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'estimat'"):
        _ = kernelcast.estimat


@pytest.mark.parametrize("name", MODULES)
def test_every_name_that_a_module_offers_exists(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        assert hasattr(module, public)
