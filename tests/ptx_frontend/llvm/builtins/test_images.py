"""Images against NumPy: every kind, format, addressing mode and filter, on both engines."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import LaunchError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.image_formats import (
    ChannelOrder,
    ChannelType,
    ImageFormat,
    ImageKind,
)
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.images import Addressing, Filter, Image, Sampler
from kernelcast.simcore.launch.launch import Launch

HERE = Path(__file__).parents[2]
shared: Any = SimpleNamespace(**runpy.run_path(str(HERE / "llvm_kernels.py")))
oracle: Any = SimpleNamespace(**runpy.run_path(str(HERE / "image_oracle.py")))

Array = npt.NDArray[Any]
RGBA = ChannelOrder.RGBA
FLOAT = ChannelType.FLOAT
NUMBERS = {"f": ("float", np.float32), "i": ("i32", np.int32), "ui": ("i32", np.uint32)}
SAMPLED = [kind for kind in ImageKind if kind is not ImageKind.IMAGE_1D_BUFFER]
SAMPLERS = [
    Sampler(addressing, chosen, is_normalized)
    for addressing, chosen, is_normalized in product(Addressing, Filter, (False, True))
    if is_normalized or addressing not in (Addressing.REPEAT, Addressing.MIRRORED_REPEAT)
]


def formats() -> list[ImageFormat]:
    found = []
    for order, type_ in product(ChannelOrder, ChannelType):
        try:
            found.append(ImageFormat(order, type_))
        except LaunchError:
            continue
    return [x for x in found if x.order is not ChannelOrder.DEPTH]


def letter(type_: ChannelType) -> str:
    return ("i" if type_.is_signed else "ui") if type_.is_integer else "f"


def vector(kind: ImageKind) -> int:
    """Elements of coordinates in OpenCL C."""
    return (1, 2, 4)[kind.axes - 1]


def mangled(name: str, kind: ImageKind, access: str, *parameters: str) -> str:
    type_ = f"ocl_{kind.title}_{access}"
    return f"_Z{len(name)}{name}{len(type_)}{type_}{''.join(parameters)}"


def places(count: int, letter_: str) -> str:
    return letter_ if count == 1 else f"Dv{count}_{letter_}"


def of(count: int, element: str) -> str:
    return element if count == 1 else f"<{count} x {element}>"


def kernel_of(text: str) -> Kernel:
    kernel: Kernel = shared.compiled(text)
    return kernel


def reading(kind: ImageKind, what: str, images: int, is_float: bool, has_sampler: bool) -> Kernel:
    """Thread i reads image i % `images`, with the sampler and at the coordinates of row i."""
    count, (number, _) = vector(kind), NUMBERS[what]
    at = of(count, "float" if is_float else "i32")
    sampler = ("11ocl_sampler",) if has_sampler else ()
    name = mangled(f"read_image{what}", kind, "ro", *sampler, places(count, "fi"[not is_float]))
    parameters = [f"ptr addrspace(1) %m{x}" for x in range(images)]
    choice = ["  %c0 = select i1 true, ptr addrspace(1) %m0, ptr addrspace(1) %m0"]
    for x in range(1, images):
        choice += [
            f"  %is{x} = icmp eq i64 %which, {x}",
            f"  %c{x} = select i1 %is{x}, ptr addrspace(1) %m{x}, ptr addrspace(1) %c{x - 1}",
        ]
    declared = ", ".join(["ptr addrspace(1)", *(["i32"] if has_sampler else []), at])
    passed = f"ptr addrspace(1) %c{images - 1}, {'i32 %s, ' if has_sampler else ''}{at} %v"
    return kernel_of(
        f"declare spir_func <4 x {number}> @{name}({declared})\n"
        f"define spir_kernel void @k({', '.join(parameters)}, ptr addrspace(1) %samplers, "
        "ptr addrspace(1) %coordinates, ptr addrspace(1) %out) {\n"
        "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n"
        f"  %which = urem i64 %i, {images}\n"
        "  %sp = getelementptr i32, ptr addrspace(1) %samplers, i64 %i\n"
        "  %s = load i32, ptr addrspace(1) %sp\n"
        f"  %vp = getelementptr {at}, ptr addrspace(1) %coordinates, i64 %i\n"
        f"  %v = load {at}, ptr addrspace(1) %vp\n" + "\n".join(choice) + "\n"
        f"  %r = call spir_func <4 x {number}> @{name}({passed})\n"
        f"  %op = getelementptr <4 x {number}>, ptr addrspace(1) %out, i64 %i\n"
        f"  store <4 x {number}> %r, ptr addrspace(1) %op\n  ret void\n}}\n"
    )


def read(
    kernel: Kernel,
    kind: ImageKind,
    images: list[Image],
    samplers: list[Sampler],
    coordinates: Array,
    dtype: Any = np.float32,
) -> Array:
    """What both engines read, (rows, 4)."""
    rows, bits = len(coordinates), np.array([x.bits for x in samplers], np.int32)
    padded = np.zeros((rows, vector(kind)), coordinates.dtype)
    padded[:, : kind.axes] = coordinates
    outs = []
    for engine in shared.ENGINES:
        out = np.zeros((rows, 4), dtype)
        assert rows % 32 == 0
        execute(
            kernel,
            Launch((rows // 32, 1, 1), (32, 1, 1), (*images, bits, padded, out)),
            engine=engine,
        )
        outs.append(out)
    assert np.array_equal(outs[0].view(np.uint32), outs[1].view(np.uint32))
    return outs[0]


def some_coordinates(image: Image, sampler: Sampler, rows: int, seed: int) -> Array:
    """Coordinates in and around the image; exact texels and their edges among them."""
    random = np.random.default_rng(seed)
    is_inside = sampler.addressing is Addressing.NONE
    found = np.zeros((rows, image.kind.axes), np.float32)
    for axis, size in enumerate(image.size):
        margin = 1 if is_inside else -4
        values = random.uniform(margin, size - margin, rows)
        values[: rows // 2] = np.rint(values[: rows // 2] * 2) / 2
        is_layer = axis >= image.kind.dimensions
        found[:, axis] = values / (size if sampler.normalized_coordinates and not is_layer else 1)
    return found


@pytest.mark.drawn(3)
@pytest.mark.parametrize("kind", SAMPLED, ids=lambda kind: kind.title)
def test_every_sampler_reads_what_the_specification_says(kind: ImageKind) -> None:
    image = Image(oracle.texels(ImageFormat(RGBA, FLOAT), oracle.shape_of(kind)), RGBA, FLOAT, kind)
    kernel = reading(kind, "f", 1, is_float=True, has_sampler=True)
    places_ = [some_coordinates(image, s, 64, n) for n, s in enumerate(SAMPLERS)]
    rows = [sampler for sampler in SAMPLERS for _ in range(64)]
    found = read(kernel, kind, [image], rows, np.concatenate(places_))
    for number, (sampler, where) in enumerate(zip(SAMPLERS, places_, strict=True)):
        expected = oracle.sampled(image, sampler, where)
        assert np.array_equal(found[64 * number : 64 * number + 64], expected), sampler


@pytest.mark.parametrize("what", NUMBERS)
def test_every_format_is_decoded(what: str) -> None:
    chosen = [x for x in formats() if letter(x.channel_type) == what]
    images = [
        Image(oracle.texels(x, (4, 6), seed), x.order, x.channel_type)
        for seed, x in enumerate(chosen)
    ]
    kernel = reading(ImageKind.IMAGE_2D, what, len(images), is_float=True, has_sampler=True)
    count, sampler = 32 * len(images), Sampler(Addressing.CLAMP)
    where = some_coordinates(images[0], sampler, count, 1)
    dtype = NUMBERS[what][1]
    found = read(kernel, ImageKind.IMAGE_2D, images, [sampler] * count, where, dtype)
    for number, image in enumerate(images):
        expected = oracle.sampled(image, sampler, where[number :: len(images)])
        assert np.array_equal(found[number :: len(images)], expected), image.format


@pytest.mark.parametrize("kind", ImageKind, ids=lambda kind: kind.title)
def test_integer_coordinates_read_texels_without_a_sampler(kind: ImageKind) -> None:
    format_ = ImageFormat(ChannelOrder.BGRA, ChannelType.UNORM_INT8)
    image = Image(
        oracle.texels(format_, oracle.shape_of(kind)), format_.order, format_.channel_type, kind
    )
    kernel = reading(kind, "f", 1, is_float=False, has_sampler=False)
    random = np.random.default_rng(3)
    where = np.stack([random.integers(0, size, 64, np.int32) for size in image.size], -1)
    found = read(kernel, kind, [image], [Sampler()] * 64, where)
    assert np.array_equal(found, oracle.colours(image)[tuple(where[:, ::-1].T)])


def test_integer_coordinates_with_a_sampler_clamp() -> None:
    format_ = ImageFormat(ChannelOrder.RG, ChannelType.SIGNED_INT16)
    image = Image(oracle.texels(format_, (5, 7)), format_.order, format_.channel_type)
    kernel = reading(ImageKind.IMAGE_2D, "i", 1, is_float=False, has_sampler=True)
    where = np.random.default_rng(5).integers(-3, 9, (64, 2), np.int32)
    samplers = [Sampler(Addressing.CLAMP), Sampler(Addressing.CLAMP_TO_EDGE)] * 32
    found = read(kernel, ImageKind.IMAGE_2D, [image], samplers, where, np.int32)
    for number in (0, 1):
        expected = oracle.sampled(image, samplers[number], where[number::2])
        assert np.array_equal(found[number::2], expected)


def writing(kind: ImageKind, what: str, images: int) -> Kernel:
    """Thread i writes row i // `images` of the values into image i % `images`."""
    count, (number, _) = vector(kind), NUMBERS[what]
    at, value = of(count, "i32"), f"<4 x {number}>"
    name = mangled(f"write_image{what}", kind, "wo", places(count, "i"), f"Dv4_{what[0]}")
    name = name.replace("Dv4_u", "Dv4_j")
    parameters = [f"ptr addrspace(1) %m{x}" for x in range(images)]
    choice = ["  %c0 = select i1 true, ptr addrspace(1) %m0, ptr addrspace(1) %m0"]
    for x in range(1, images):
        choice += [
            f"  %is{x} = icmp eq i64 %which, {x}",
            f"  %c{x} = select i1 %is{x}, ptr addrspace(1) %m{x}, ptr addrspace(1) %c{x - 1}",
        ]
    return kernel_of(
        f"declare spir_func void @{name}(ptr addrspace(1), {at}, {value})\n"
        f"define spir_kernel void @k({', '.join(parameters)}, "
        "ptr addrspace(1) %coordinates, ptr addrspace(1) %values) {\n"
        "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n"
        f"  %which = urem i64 %i, {images}\n  %row = udiv i64 %i, {images}\n"
        f"  %vp = getelementptr {at}, ptr addrspace(1) %coordinates, i64 %row\n"
        f"  %v = load {at}, ptr addrspace(1) %vp\n" + "\n".join(choice) + "\n"
        f"  %wp = getelementptr {value}, ptr addrspace(1) %values, i64 %row\n"
        f"  %w = load {value}, ptr addrspace(1) %wp\n"
        f"  call spir_func void @{name}(ptr addrspace(1) %c{images - 1}, {at} %v, {value} %w)\n"
        "  ret void\n}\n"
    )


def written(
    kernel: Kernel, kind: ImageKind, images: list[Image], values: Array
) -> list[list[Array]]:
    """The texels after every row was written to the next texel, for each engine."""
    sizes = [range(size) for size in images[0].size]
    where = np.zeros((len(values), vector(kind)), np.int32)
    where[:, : kind.axes] = [place[::-1] for place in product(*reversed(sizes))][: len(values)]
    found = []
    for engine in shared.ENGINES:
        copies = [Image(x.texels.copy(), x.order, x.channel_type, kind) for x in images]
        threads = len(values) * len(images)
        launch = Launch(
            (len(images), 1, 1), (threads // len(images), 1, 1), (*copies, where, values)
        )
        execute(kernel, launch, engine=engine)
        found.append([copy.texels for copy in copies])
    return found


@pytest.mark.parametrize("what", NUMBERS)
def test_every_format_is_encoded(what: str) -> None:
    chosen = [x for x in formats() if letter(x.channel_type) == what]
    images = [
        Image(np.zeros_like(oracle.texels(x, (4, 8))), x.order, x.channel_type) for x in chosen
    ]
    random = np.random.default_rng(7)
    values: Array = random.uniform(-1.3, 1.3, (32, 4)).astype(np.float32)
    if what != "f":
        values = random.integers(0, 2**32, (32, 4), np.uint32)
        values[::2] = random.integers(0, 400, (16, 4))
        values = values.view(np.int32) if what == "i" else values
    kernel = writing(ImageKind.IMAGE_2D, what, len(images))
    for found in written(kernel, ImageKind.IMAGE_2D, images, values):
        for image, after in zip(images, found, strict=True):
            expected = oracle.encoded(image.format, values).reshape(after.shape)
            assert np.array_equal(after, expected), image.format


@pytest.mark.parametrize("kind", ImageKind, ids=lambda kind: kind.title)
def test_every_kind_is_written(kind: ImageKind) -> None:
    image = Image(
        np.zeros((*oracle.shape_of(kind), 2), np.float16),
        ChannelOrder.RG,
        ChannelType.HALF_FLOAT,
        kind,
    )
    values = np.random.default_rng(8).random((7, 4), np.float32)
    for (found,) in written(writing(kind, "f", 1), kind, [image], values):
        expected = np.zeros_like(found).reshape(-1, 2)
        expected[:7] = values[:, :2]
        assert np.array_equal(found.reshape(-1, 2), expected)
