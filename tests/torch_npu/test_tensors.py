"""Tensors on the device through PyTorch's plug-in: the results of torch on the CPU."""

from __future__ import annotations

import copy
import io
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from plugged import generator, torch

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
#: Of the dtypes that a function's result is computed in, relative: some last places.
PRECISION = {torch.float32: 2.0**-21, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}


def name(value: Any) -> str:
    return str(value).removeprefix("torch.")


def numbers(dtype: Any, *shape: int, seed: int = 0) -> Any:
    """Whole numbers that every dtype holds, few enough to be equal now and then."""
    small = torch.randint(0, 12, shape, generator=generator(seed))
    return small.to(dtype)


def same(got: Any, expected: Any) -> None:
    """Shape, dtype and every bit, on the device."""
    assert got.device.type == "npu"
    assert got.dtype == expected.dtype and got.shape == expected.shape
    torch.testing.assert_close(got.cpu(), expected, rtol=0, atol=0, equal_nan=True)


# ---- copies --------------------------------------------------------------------------------------

VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "transposed": lambda x: x.t(),
    "columns": lambda x: x[:, 1:3],
    "every second row": lambda x: x[::2],
    "one row": lambda x: x[1],
    "one element": lambda x: x[2, 3],
    "expanded": lambda x: x[1:2].expand(4, -1),
    "three dimensions": lambda x: x.reshape(2, 3, 5).transpose(0, 2),
    "four": lambda x: x.reshape(2, 3, 1, 5).permute(3, 1, 0, 2),
    "five": lambda x: x.reshape(1, 2, 3, 1, 5).permute(4, 0, 2, 1, 3),
    "diagonal": lambda x: x.diagonal(),
    "unfolded": lambda x: x.reshape(-1).unfold(0, 4, 3),
    "nothing": lambda x: x[3:3],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", (*DTYPES, torch.complex64), ids=name)
def test_views_there_and_back(dtype: Any, view: str) -> None:
    x = numbers(dtype, 6, 5)
    there = x.npu()
    same(there, x)
    same(VIEWS[view](there), VIEWS[view](x))
    same(VIEWS[view](x).npu(), VIEWS[view](x))
    same(VIEWS[view](there).contiguous(), VIEWS[view](x).contiguous())
    same(VIEWS[view](there).clone(), VIEWS[view](x).clone())


@pytest.mark.parametrize("view", [view for view in VIEWS if view not in ("expanded", "unfolded")])
def test_views_are_written(view: str) -> None:
    for dtype in DTYPES:
        x = numbers(dtype, 6, 5)
        there = x.npu()
        source = numbers(dtype, *VIEWS[view](x).shape, seed=1)
        VIEWS[view](there).copy_(source.npu())
        VIEWS[view](x).copy_(source)
        same(there, x)


@pytest.mark.parametrize("source", (*DTYPES, torch.complex64), ids=name)
def test_casts(source: Any) -> None:
    x = numbers(source, 3, 7)
    for target in (*DTYPES, torch.complex64):
        if source.is_complex and not target.is_complex:
            continue  # torch warns about the part it drops
        same(x.npu().to(target), x.to(target))
        same(x.t().npu().to(target), x.t().to(target))
        there, here = torch.zeros(3, 7, dtype=target), torch.zeros(3, 7, dtype=target)
        there = there.npu()
        there.t().copy_(x.npu().t())
        here.t().copy_(x.t())
        same(there, here)
        row = torch.zeros(3, 7, dtype=target).npu()
        row.copy_(x[1].npu())
        same(row, x[1].to(target).expand(3, 7).contiguous())


def test_rounding_of_casts() -> None:
    values = torch.tensor([1.0009765625, 1.00048828125, 65504, 65520, 1e-8, -0.0, torch.inf, -3.7])
    for target in (torch.float16, torch.bfloat16):
        same(values.npu().to(target), values.to(target))
    same(values[:3].npu().to(torch.int32), values[:3].to(torch.int32))
    same(torch.tensor([torch.nan, 0.0, 2.0]).npu().bool(), torch.tensor([True, False, True]))


def test_float64_becomes_float32() -> None:
    """The plug-in says so in a warning: the device has no float64."""
    assert torch.zeros(2, 3).npu().to(torch.float64).dtype == torch.float32


def test_assignments() -> None:
    x = numbers(torch.float32, 4, 6)
    there = x.npu()
    for each in (there, x):
        own = each.device
        each[1:3] = torch.full((2, 6), 7.0).to(own)
        each[0, 0] = 5
        each[:, 4] = -1.5
        each[3] = torch.arange(6).to(own)
    same(there, x)


def test_reading_values() -> None:
    x = numbers(torch.float32, 2, 3) + 0.5
    there = x.npu()
    assert there.tolist() == x.tolist()
    assert there[1, 2].item() == x[1, 2].item() and float(there[0, 0]) == float(x[0, 0])
    assert bool((there > 0).all()) and int(there.int()[1, 1]) == int(x[1, 1])
    assert there.cpu().numpy().tolist() == x.tolist()


def test_copies_of_python() -> None:
    x = numbers(torch.float16, 5, 3)
    same(copy.deepcopy(x.npu()), x)
    file = io.BytesIO()
    torch.save({"x": x.npu()}, file)
    file.seek(0)
    same(torch.load(file, map_location="npu")["x"], x)


# ---- creation ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=name)
def test_filled(dtype: Any) -> None:
    for shape in ((3, 4), (), (0,), (2, 0, 3), (1, 2, 3, 4, 5)):
        for make in (torch.zeros, torch.ones):
            same(make(shape, dtype=dtype, device="npu"), make(shape, dtype=dtype))
        same(torch.full(shape, 1, dtype=dtype, device="npu"), torch.full(shape, 1, dtype=dtype))
        x = numbers(dtype, *shape)
        same(torch.zeros_like(x.npu()), torch.zeros_like(x))
        same(torch.ones_like(x.npu()), torch.ones_like(x))
        same(torch.full_like(x.npu(), 1), torch.full_like(x, 1))
        same(x.npu().fill_(1), x.clone().fill_(1))
        same(x.npu().fill_(numbers(dtype).npu()), x.clone().fill_(numbers(dtype)))
        same(x.npu().zero_(), x.clone().zero_())
        same(torch.empty(shape, dtype=dtype, device="npu").fill_(0), x.clone().zero_())


def test_progressions() -> None:
    for words in (
        {"end": 5}, {"start": 2, "end": 9, "step": 3}, {"start": 0, "end": 1, "step": 0.25},
        {"start": 5, "end": 0, "step": -2}, {"start": 3, "end": 3},
        {"end": 7, "dtype": torch.int32}, {"end": 7, "dtype": torch.float16},
    ):  # fmt: skip
        same(torch.arange(**words, device="npu"), torch.arange(**words))
    same(torch.linspace(0, 1, 5, device="npu"), torch.linspace(0, 1, 5))
    same(torch.eye(3, 4, device="npu"), torch.eye(3, 4))
    same(torch.tensor([[1, 2], [3, 4]], device="npu"), torch.tensor([[1, 2], [3, 4]]))
    for diagonal in (-1, 0, 2):
        x = numbers(torch.float32, 4, 5)
        same(x.npu().tril(diagonal), x.tril(diagonal))
        same(x.npu().triu(diagonal), x.triu(diagonal))


@pytest.mark.parametrize("dtype", DTYPES, ids=name)
def test_joined(dtype: Any) -> None:
    x, y = numbers(dtype, 2, 3), numbers(dtype, 4, 3, seed=1)
    same(torch.cat([x.npu(), y.npu()]), torch.cat([x, y]))
    same(torch.cat([x.t().npu(), y.npu().t()], dim=1), torch.cat([x.t(), y.t()], dim=1))
    same(torch.stack([x.npu(), x.npu()], dim=1), torch.stack([x, x], dim=1))
    same(x.npu().repeat(2, 3), x.repeat(2, 3))
    same(x.npu().flip(0, 1), x.flip(0, 1))
    none = torch.empty(0, dtype=dtype)
    same(torch.cat([none.npu(), x[0].npu()]), torch.cat([none, x[0]]))


# ---- arithmetic ----------------------------------------------------------------------------------

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "alpha": lambda x, y: torch.add(x, y, alpha=2),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
ON_BOOL = ("add", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge")


@pytest.mark.parametrize("operator", BINARY)
def test_two_tensors(operator: str) -> None:
    """All pairs of dtypes, with broadcasting and strides."""
    function = BINARY[operator]
    for first, second in itertools.product(DTYPES, DTYPES):
        if torch.bool in (first, second) and operator not in ON_BOOL:
            continue
        if {first, second} == {torch.float16, torch.bfloat16}:
            continue  # the plug-in has no common dtype for them
        x = numbers(first, 3, 4)
        y = numbers(second, 3, 4, seed=1).clamp(min=1) if second != torch.bool else x > 5
        same(function(x.npu(), y.npu()), function(x, y))
        same(function(x.npu().t(), y.npu().t()[1]), function(x.t(), y.t()[1]))
        same(function(x.npu()[:, 1:2], y.npu()), function(x[:, 1:2], y))
        same(function(x[:0].npu(), y[:0].npu()), function(x[:0], y[:0]))


# torch's maximum and minimum take tensors only.
@pytest.mark.parametrize(
    "operator", [each for each in BINARY if each not in ("maximum", "minimum")]
)
def test_tensor_and_number(operator: str) -> None:
    function = BINARY[operator]
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        x = numbers(dtype, 3, 4)
        for number in (3, 2.5) if dtype.is_floating_point else (3,):
            same(function(x.npu(), number), function(x, number))
        same(function(x.npu(), torch.tensor(2).to(dtype).npu()), function(x, torch.tensor(2)))


def test_numbers_on_the_left() -> None:
    x = numbers(torch.float32, 3, 4) + 1
    same(1 - x.npu(), 1 - x)
    same(2.0 / x.npu(), 2.0 / x)
    same(3 + x.npu(), 3 + x)
    same(torch.tensor(2.0) + x.npu(), torch.tensor(2.0) + x)
    same(torch.tensor(2.0) * x.npu(), torch.tensor(2.0) * x)


def test_in_place() -> None:
    x, y = numbers(torch.float32, 3, 4), numbers(torch.float32, 4, seed=1) + 1
    there = x.npu()
    for each, other in ((there, y.npu()), (x, y)):
        each.add_(other).mul_(2).sub_(1).div_(other)
        each.add_(other, alpha=3).clamp_(min=1).neg_()
        each += other
        each[:, 1] *= 4
    same(there, x)


def test_logic() -> None:
    a, b = numbers(torch.int32, 3, 4), numbers(torch.int32, 3, 4, seed=1)
    for x, y in ((a, b), (a > 5, b > 5)):
        same(x.npu() & y.npu(), x & y)
        same(x.npu() | y.npu(), x | y)
        same(x.npu() ^ y.npu(), x ^ y)
        same(~x.npu(), ~x)
        same(torch.logical_and(x.npu(), y.npu()), torch.logical_and(x, y))
        same(torch.logical_not(x.npu()), torch.logical_not(x))
    f = torch.tensor([1.0, torch.nan, torch.inf, -torch.inf, 0.0])
    for function in (torch.isnan, torch.isinf, torch.isfinite):
        same(function(f.npu()), function(f))
    same(torch.isclose(f.npu(), f.npu() + 1e-6), torch.isclose(f, f + 1e-6))
    assert torch.allclose(a.npu() + 1.0, a.npu() + 1.000001)
    assert not torch.allclose(a.npu() + 1.0, a.npu() + 1.1)
    assert torch.equal(a.npu(), a.npu()) and not torch.equal(a.npu(), b.npu())


EXACT = ("abs", "neg", "sign", "relu", "ceil", "floor", "trunc", "round", "sqrt", "reciprocal")
UNARY = (
    *EXACT, "rsqrt", "exp", "log", "sin", "cos", "tan", "tanh", "sigmoid", "erf", "exp2", "expm1",
    "log1p", "log2", "log10", "silu",
)  # fmt: skip


@pytest.mark.parametrize("function", UNARY)
def test_functions(function: str) -> None:
    for dtype in FLOATS:
        x = (torch.randn(5, 41, generator=generator(2)) * 2).to(dtype)
        if function in ("sqrt", "rsqrt", "log", "log2", "log10", "log1p", "reciprocal"):
            x = x.abs() + 0.125
        apply = getattr(torch, function, None) or getattr(torch.nn.functional, function)
        got = apply(x.npu().t())
        assert got.dtype == dtype and got.shape == (41, 5)
        exact = apply(x.t().double())
        bound = PRECISION[dtype] * (exact.abs() + 2.0**-14)
        assert bool(((got.cpu().double() - exact).abs() <= bound).all())


def test_powers_and_choices() -> None:
    x = numbers(torch.float32, 4, 6) - 3
    same(x.npu() ** 2, x**2)
    same(x.npu().clamp(0, 4), x.clamp(0, 4))
    same(x.npu().clamp(max=1), x.clamp(max=1))
    same(torch.where(x.npu() > 0, x.npu(), 1.0), torch.where(x > 0, x, 1.0))
    same(torch.where(x.npu() > 0, x.npu(), -x.npu()), torch.where(x > 0, x, -x))
    same(x.npu().masked_fill(x.npu() > 2, -torch.inf), x.masked_fill(x > 2, -torch.inf))
    same(x.npu().masked_select(x.npu() > 0), x.masked_select(x > 0))
    same(x.npu()[x.npu() > 0], x[x > 0])
    same(x.npu().nonzero(), x.nonzero())
    same(x.npu()[torch.tensor([3, 0, 3]).npu()], x[[3, 0, 3]])
    rows = torch.tensor([2, 1])
    same(x.npu().index_select(0, rows.npu()), x.index_select(0, rows))
    same(x.npu()[rows.npu(), rows.npu()], x[rows, rows])


def test_gradients() -> None:
    """Backward runs on a thread of torch's."""
    x, y = (numbers(torch.float32, 3, 4, seed=seed) for seed in (0, 1))
    there = x.npu().requires_grad_()
    here = x.clone().requires_grad_()
    (there * there * y.npu() + there).sum().backward()
    (here * here * y + here).sum().backward()
    same(there.grad, here.grad)


#: What has a backward pass of operators that exist.
DIFFERENTIABLE: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.t().contiguous(),
    "columns": lambda x: x[:, 1:3],
    "cat": lambda x: torch.cat([x, x]),
    "stack": lambda x: torch.stack([x, x]),
    "repeat": lambda x: x.repeat(2, 1),
    "flip": lambda x: x.flip(0),
    "tril": lambda x: x.tril(),
    "quotient": lambda x: x / (x + 9),
    "on the right": lambda x: 3 / (x + 9) - x,
    "remainder": lambda x: x % 2,
    "cube": lambda x: x**3,
    "2 ** x": lambda x: 2**x,
    "abs": lambda x: x.abs(),
    "sqrt": lambda x: (x.abs() + 1).sqrt(),
    "rsqrt": lambda x: (x.abs() + 1).rsqrt(),
    "exp": lambda x: x.exp(),
    "log": lambda x: (x.abs() + 1).log(),
    "log1p": lambda x: x.abs().log1p(),
    "sin": lambda x: x.sin() * x.cos(),
    "erf": lambda x: x.erf(),
    "where": lambda x: torch.where(x > 0, x, x * 2),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0),
    "clamp": lambda x: x.clamp(-1, 1),
    "maximum": lambda x: torch.maximum(x, x * 2),
    "mean": lambda x: x.mean(0),
    "max": lambda x: x.max(),
    "amin": lambda x: x.amin(1),
}


@pytest.mark.parametrize("function", DIFFERENTIABLE)
def test_gradients_of_functions(function: str) -> None:
    x = torch.randn(4, 5, generator=generator(1))
    here, there = x.clone().requires_grad_(), x.npu().requires_grad_()
    DIFFERENTIABLE[function](here).sum().backward()
    DIFFERENTIABLE[function](there).sum().backward()
    torch.testing.assert_close(there.grad.cpu(), here.grad, rtol=2.0**-20, atol=2.0**-20)


def test_steps_of_an_optimizer() -> None:
    weights = [torch.nn.Parameter(numbers(torch.float32, 3, 4)) for _ in range(2)]
    weights[1].data = weights[1].data.npu()
    for weight in weights:
        optimizer = torch.optim.SGD([weight], lr=0.125, momentum=0.5, foreach=False)
        for _ in range(3):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
    same(weights[1].detach(), weights[0].detach())


# ---- reductions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", (torch.float32, torch.float16, torch.int32, torch.int64), ids=name
)
def test_extremes(dtype: Any) -> None:
    x = numbers(dtype, 5, 7) - 4
    there = x.npu()
    for function in ("max", "min", "amax", "amin", "argmax", "argmin"):
        same(getattr(there, function)(), getattr(x, function)())
        for dim in (0, -1):
            got, expected = getattr(there, function)(dim), getattr(x, function)(dim)
            if function in ("max", "min"):
                same(got.values, expected.values)
                same(got.indices, expected.indices)
            else:
                same(got, expected)


def test_sums() -> None:
    """Of whole numbers, so that the order of summing does not show."""
    for dtype in (torch.float32, torch.int32, torch.int64, torch.bool):
        x = numbers(dtype, 3, 4, 5)
        same(x.npu().sum(), x.sum())
        same(x.npu().sum(1), x.sum(1))
        same(x.npu().sum((0, 2), keepdim=True), x.sum((0, 2), keepdim=True))
        same(x.npu().transpose(0, 2).sum(0), x.transpose(0, 2).sum(0))
    x = numbers(torch.float32, 3, 4)
    same(x.npu().mean(1), x.mean(1))
    same(x.npu()[:0].sum(0), x[:0].sum(0))
    for y in (x, x > 5, x > -1):
        same(y.npu().all(), y.all())
        same(y.npu().any(1), y.any(1))


def test_sums_of_fractions() -> None:
    x = torch.randn(33, 1001, generator=generator(4))
    for dtype in FLOATS:
        y = x.to(dtype)
        got = y.npu().sum(1).cpu().double()
        exact, size = y.double().sum(1), y.double().abs().sum(1)
        # One rounding of the result; sums are made in float64.
        bound = exact.abs() * PRECISION[dtype] / 4 + size * 2.0**-50 + 2.0**-24
        assert bool(((got - exact).abs() <= 2 * bound).all())


# ---- print ---------------------------------------------------------------------------------------

PRINTED = {
    "floats": torch.tensor([[1.5, -2.25, 1e-3], [100.0, 0.0, 7.0]]),
    "whole floats": torch.tensor([1.0, 2.0, -30.0]),
    "large and small": torch.tensor([1e-9, 1e9]),
    "special": torch.tensor([torch.nan, torch.inf, -torch.inf, 2.5]),
    "half": torch.tensor([[0.5, 1.75], [-3.0, 1e-4]]).half(),
    "bfloat16": torch.tensor([0.5, 1.75, 300.0]).bfloat16(),
    "int32": torch.arange(-3, 9, dtype=torch.int32).reshape(3, 4),
    "int64": torch.tensor([2**40, -1]),
    "int8": torch.tensor([127, -128], dtype=torch.int8),
    "bool": torch.tensor([[True], [False]]),
    "complex": torch.tensor([1 + 2j, -0.5j]),
    "none": torch.empty(0),
    "no rows": torch.empty(0, 3),
    "number": torch.tensor(2.5),
    "whole number": torch.tensor(7),
    "many": torch.arange(5000.0) / 8,
    "many rows": torch.arange(300 * 40.0).reshape(300, 40),
    "four dimensions": torch.arange(24).reshape(1, 2, 3, 4) / 4,
}


@pytest.mark.parametrize("what", PRINTED)
def test_print(what: str) -> None:
    """repr() computes on the device: which digits are needed, what is left out."""

    def words(text: str) -> str:
        return re.sub(r"\s+", "", text)

    x = PRINTED[what]
    pairs = [(x, x.npu())]
    if x.dim() > 0:
        pairs.append((x[..., ::2], x.npu()[..., ::2]))
    for here, there in pairs:
        text = words(repr(there))
        # The plug-in prints what is tagged NCHW or NCDHW from a copy on the CPU; of the rest the
        # device is said besides, which moves line ends.
        assert ("device='npu:0'" in text) == (x.dim() not in (4, 5))
        assert text.replace(",device='npu:0'", "") == words(repr(here))


def test_print_of_parameters() -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.5]).npu())
    assert repr(parameter) == (
        "Parameter containing:\ntensor([1.0000, 2.5000], device='npu:0', requires_grad=True)"
    )
