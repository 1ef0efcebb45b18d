"""pyaclnn.atb: parameters, steps, one call, and what is said when something is wrong."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from python_support import Shared, product, run_python, stream_mode

import pyaclnn
from pyaclnn import BFloat16Array, Tensor, _keep, acl, atb, to_bfloat16

ml_dtypes = pytest.importorskip("ml_dtypes")

pytestmark = pytest.mark.usefixtures("no_idle_streams", "no_leak", "idle_streams_dropped")

NZ = acl.ACL_FORMAT_FRACTAL_NZ
Elewise = atb.ElewiseParam.ElewiseType


def tokens(dtype: Any = np.float16) -> list[Any]:
    """Three tokens of two heads, caches of two blocks of two, and where the tokens go."""
    key = np.arange(1, 25).reshape(3, 2, 4).astype(dtype)
    cache = np.zeros((2, 2, 2, 4), dtype)
    return [key, -key, cache, cache.copy(), np.array([3, -1, 0], np.int32)]


def cached(rows: Any) -> Any:
    """What the cache of these rows holds afterwards."""
    cache = np.zeros((4, 2, 4), rows.dtype)
    cache[3], cache[0] = rows[0], rows[2]
    return cache.reshape(2, 2, 2, 4)


def reshape_and_cache() -> atb.Operation:
    return atb.Operation(atb.ReshapeAndCacheParam())


@contextmanager
def session() -> Iterator[tuple[acl.Stream, atb.Context]]:
    with acl.Stream() as stream:
        yield stream, atb.Context(stream)


# ---- parameters


def test_fields_have_the_headers_defaults() -> None:
    param = atb.SelfAttentionParam()
    assert (param.headNum, param.qkScale, param.outDataType) == (0, 1.0, acl.ACL_DT_UNDEFINED)
    assert param.calcType is atb.SelfAttentionParam.CalcType.UNDEFINED
    assert param.inputLayout is atb.InputLayout.TYPE_BSND
    assert param.rsv == bytes(64)
    assert atb.TransdataParam().outCrops == (0, 0)
    assert atb.ElewiseParam().quantParam.inputScale == 1.0


def test_fields_take_what_their_type_holds() -> None:
    param = atb.SelfAttentionParam(headNum=np.int64(4), qkScale=np.float32(0.5))
    param.calcType = 3
    assert param.calcType is atb.SelfAttentionParam.CalcType.PA_ENCODER
    param.calcType = 77  # what is acceptable is the operation's to say
    assert param.calcType == 77
    for yes in (True, 1, np.True_):
        param.batchRunStatusEnable = yes  # type: ignore[assignment]
    assert param.batchRunStatusEnable is True
    for value in ("bfloat16", np.dtype(ml_dtypes.bfloat16), acl.ACL_BF16):
        param.outDataType = value
        assert param.outDataType == acl.ACL_BF16
    param.rsv = b"\1"
    assert param.rsv == b"\1" + bytes(63)
    assert "headNum=4" in repr(param) and "qScale" not in repr(param)
    assert param == param and param != atb.SelfAttentionParam()


@pytest.mark.parametrize(
    ("field", "value", "error", "text"),
    [
        ("headNum", 4.0, TypeError, "SelfAttentionParam.headNum: 4.0, accepted is a whole number"),
        ("headNum", 2**31, OverflowError, "accepted are -2147483648 .. 2147483647"),
        ("mlaVHeadSize", -1, OverflowError, "accepted are 0 .. 4294967295"),
        ("cacheType", 128, OverflowError, "accepted are -128 .. 127"),
        ("qkScale", "1", TypeError, "'1', accepted is a number"),
        ("batchRunStatusEnable", 2, OverflowError, "accepted are 0 .. 1"),
        ("outDataType", "nonsense", TypeError, "nonsense"),
        ("rsv", bytes(65), ValueError, "65 bytes, accepted are at most 64"),
        ("rsv", [0], TypeError, "a list, accepted are bytes"),
        ("kv_head_num", 1, AttributeError, "did you mean kvHeadNum?"),
        ("nonsense", 1, AttributeError, "no field 'nonsense'. It has quantType"),
    ],
)
def test_fields_refuse(field: str, value: Any, error: type[Exception], text: str) -> None:
    param = atb.SelfAttentionParam()
    with pytest.raises(error) as caught:
        setattr(param, field, value)
    assert text in str(caught.value)
    assert param == atb.SelfAttentionParam()


def test_structures_inside() -> None:
    param = atb.ElewiseParam(elewiseType=Elewise.ELEWISE_MULS)
    param.mulsParam.varAttr = 3
    assert repr(param.mulsParam) == "ElewiseParam.MulsParam(varAttr=3.0)"
    with pytest.raises(AttributeError, match="MulsParam has no field 'factor'"):
        param.mulsParam.factor = 3  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"ElewiseParam.mulsParam: a float"):
        param.mulsParam = 3.0  # type: ignore[assignment]
    with pytest.raises(TypeError, match="outCrops: a int"):
        atb.TransdataParam(outCrops=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"outCrops\[1\]: 1.5"):
        atb.TransdataParam(outCrops=[1, 1.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="65 numbers, accepted are at most 64"):
        atb.TransdataParam(outCrops=[1] * 65)
    with pytest.raises(TypeError, match="unexpected keyword argument 'headnum'"):
        atb.SelfAttentionParam(headnum=1)  # type: ignore[call-arg]


def test_a_parameter_is_copied() -> None:
    param = atb.ReshapeAndCacheParam()
    operation = atb.Operation(param)
    param.kvCacheCfg = 1
    assert len(operation.inputs) == 5 and len(atb.Operation(param).inputs) == 3


@pytest.mark.parametrize("param", [None, 4, atb.ElewiseParam.MulsParam(), "ElewiseParam"])
def test_only_a_parameter_makes_an_operation(param: Any) -> None:
    with pytest.raises(TypeError, match=r"accepted is a parameter of pyaclnn\.atb"):
        atb.Operation(param)


# ---- one call


@pytest.mark.parametrize("dtype", [np.float16, np.int8, ml_dtypes.bfloat16])
def test_caches_are_written_in_place(dtype: Any) -> None:
    operation = reshape_and_cache()
    assert operation.name == "ReshapeAndCacheOperation"
    names = ["key", "value", "keyCache", "valueCache", "slotMapping"]
    assert [info.name for info in operation.inputs] == names
    assert [info.written for info in operation.inputs] == [False, False, True, True, False]
    assert [info.in_place_of for info in operation.outputs] == [2, 3]
    assert repr(operation) == f"<ReshapeAndCacheOperation of {', '.join(names)}>"
    inputs = tokens(dtype)
    results = operation.forward(inputs)
    assert results[0] is inputs[2] and results[1] is inputs[3]
    for cache, rows in zip(results, inputs[:2], strict=True):
        assert np.array_equal(cache.astype(np.float32), cached(rows).astype(np.float32))
    # Again, and nothing is held.
    inputs[2][:] = 0
    operation.forward(inputs)
    assert (inputs[2] == cached(inputs[0])).all()
    held = weakref.ref(inputs[2])
    del inputs, results, cache
    gc.collect()
    assert held() is None


def test_bits_and_dlpack() -> None:
    inputs = tokens(np.float32)
    wrapped = [to_bfloat16(each) for each in inputs[:4]] + inputs[4:]
    results = reshape_and_cache().forward(wrapped)
    assert isinstance(results[0], BFloat16Array)
    assert np.array_equal(results[0].float32(), cached(inputs[0]))

    inputs = tokens()
    foreign = [Shared(each) for each in inputs]
    results = reshape_and_cache().forward(foreign)
    assert results[0] is foreign[2]
    assert np.array_equal(inputs[2], cached(inputs[0]))


def test_new_outputs() -> None:
    ones = np.ones((2, 3), np.float32)
    cast = atb.ElewiseParam(elewiseType=Elewise.ELEWISE_CAST, outTensorType="bfloat16")
    (bits,) = atb.Operation(cast).forward([ones])
    assert isinstance(bits, BFloat16Array) and (bits.float32() == 1).all()
    double = atb.ElewiseParam(elewiseType=Elewise.ELEWISE_MULS)
    double.mulsParam.varAttr = 2
    (typed,) = atb.Operation(double).forward([ones.astype(ml_dtypes.bfloat16)])
    assert typed.dtype == ml_dtypes.bfloat16 and (typed.astype(np.float32) == 2).all()
    out = np.zeros((2, 3), np.float32)
    results = atb.Operation(double).forward([ones], [out])
    assert results[0] is out and (out == 2).all()


def test_formats() -> None:
    rows = np.arange(4 * 20).reshape(4, 20).astype(np.float16)
    to_nz = atb.Operation(atb.TransdataParam(transdataType=2))
    assert to_nz.infer_shape([rows]) == [atb.TensorDesc((1, 2, 16, 16), "float16", NZ)]
    (fractal,) = to_nz.forward([rows])
    assert fractal[0, 1, 3, 2] == rows[3, 18]
    back = atb.Operation(atb.TransdataParam(transdataType=1, outCrops=[4, 20]))
    with pytest.raises(atb.AtbInvalidError, match="FLOAT16 ND"):
        back.forward([fractal])
    (again,) = back.forward([Tensor(fractal, format=NZ)])
    assert np.array_equal(again[0], rows)
    described = back.infer_shape([atb.TensorDesc((1, 2, 16, 16), "float16", NZ)])
    assert described == [atb.TensorDesc((1, 4, 20), "float16")]


def test_on_a_stream() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    wanted = cached(inputs[0])
    with stream_mode("lazy"), acl.Stream() as stream:
        results = operation.forward(inputs, stream=stream)
        assert not results[0].any()
        assert _keep.count() == 1
        inputs.clear()  # kept until the stream has passed the call
        gc.collect()
        stream.synchronize()
        assert np.array_equal(results[0], wanted)


def test_operations_on_many_threads() -> None:
    failures = []

    def work() -> None:
        try:
            inputs = tokens()
            for _ in range(50):
                inputs[2][:] = 0
                reshape_and_cache().forward(inputs)
                assert np.array_equal(inputs[2], cached(inputs[0]))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_without_a_device() -> None:
    """A thread without a context gets device 0, and a program needs nothing else."""
    done = run_python(
        "import numpy as np\n"
        "from pyaclnn import atb\n"
        "op = atb.Operation(atb.ElewiseParam(elewiseType=5))\n"
        "print(op.forward([np.ones(3, np.float16)])[0])\n"
    )
    assert (done.stdout, done.stderr) == ("[-1. -1. -1.]\n", "")


# ---- steps


def test_steps() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    descs = [atb.TensorDesc(each.shape, each.dtype.name) for each in inputs]
    assert operation.infer_shape(descs) == operation.infer_shape(inputs) == descs[2:4]
    with session() as (stream, context):
        size = operation.setup(inputs, inputs[2:4], context)
        assert size % 512 == 0
        operation.execute(context, np.empty(size, np.uint8))
        stream.synchronize()
        assert np.array_equal(inputs[2], cached(inputs[0]))
        # Other arrays of the same kind; those of Setup again; memory of the library's own.
        others = tokens()
        operation.execute(context, None, others, others[2:4])
        inputs[2][:] = 0
        operation.execute(context)
        stream.synchronize()
        assert np.array_equal(others[2], cached(others[0]))
        assert np.array_equal(inputs[2], cached(inputs[0]))
        assert int(context) != 0 and repr(context).startswith("<Context 0x")


def test_arrays_of_queued_work_are_kept() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    cache, rows = inputs[2], inputs[0].copy()
    with stream_mode("lazy"), session() as (stream, context):
        operation.setup(inputs, inputs[2:4], context)
        operation.execute(context)
        key = weakref.ref(inputs[0])
        inputs.clear()
        del operation, context
        gc.collect()
        assert key() is not None
        stream.synchronize()
        assert np.array_equal(cache, cached(rows))
        gc.collect()
        assert key() is None


def test_prepare_and_launch() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    with session() as (stream, context):
        try:
            operation.setup(inputs, inputs[2:4], context)
            context.set_execute_type(atb.ExecuteType.EXECUTE_PRELAUNCH)
            operation.execute(context)
            stream.synchronize()
            assert not inputs[2].any()
            context.set_execute_type(atb.ExecuteType.EXECUTE_LAUNCH)
            operation.execute(context)
            stream.synchronize()
            assert np.array_equal(inputs[2], cached(inputs[0]))
            with pytest.raises(atb.AtbInvalidError) as caught:
                operation.execute(context)
            assert caught.value.rule == "ATB-PRELAUNCH"
        finally:
            context.set_execute_type(atb.ExecuteType.EXECUTE_NORMAL)


def test_what_is_prepared_is_held() -> None:
    """Arrays and workspace of EXECUTE_PRELAUNCH, until the stream has passed EXECUTE_LAUNCH."""
    param = atb.SelfAttentionParam(headNum=1, calcType=atb.SelfAttentionParam.CalcType.PA_ENCODER)
    operation, lengths = atb.Operation(param), np.array([3], np.int32)

    def arrays() -> list[Any]:
        return [np.ones((3, 1, 16), np.float16) for _ in range(4)]

    with session() as (stream, context), stream_mode("lazy"):
        first, given = arrays(), arrays()
        size = operation.setup([*first[:3], lengths], first[3:], context)
        workspace = np.empty(size, np.uint8)
        held = [weakref.ref(one) for one in (*given, workspace)]
        result = given[3]
        try:
            context.set_execute_type(atb.ExecuteType.EXECUTE_PRELAUNCH)
            operation.execute(context, workspace, [*given[:3], lengths], given[3:])
            del given, workspace
            gc.collect()
            assert all(one() is not None for one in held)
            context.set_execute_type(atb.ExecuteType.EXECUTE_LAUNCH)
            operation.execute(context)
            gc.collect()
            assert all(one() is not None for one in held)
            stream.synchronize()
            assert (result == 1).all()
            del result
            _keep.prune()
            gc.collect()
            assert all(one() is None for one in held)
        finally:
            context.set_execute_type(atb.ExecuteType.EXECUTE_NORMAL)


def test_graphs_fix_the_shapes() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    with session() as (stream, context):
        context.launch_mode = atb.LaunchMode.GRAPH_LAUNCH_MODE
        assert context.launch_mode == 1
        operation.setup(inputs, inputs[2:4], context)
        operation.execute(context)
        stream.synchronize()
        others = tokens(np.int8)
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.setup(others, others[2:4], context)
        assert (caught.value.rule, caught.value.step) == ("ATB-GRAPH-DESCS", "Setup")
        with pytest.raises(atb.AtbInvalidError, match=r"0 \.\. 1"):
            context.launch_mode = 2
        assert context.launch_mode == 1


def test_execute_needs_its_setup() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    with session() as (_, context):
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.execute(context)
        assert (caught.value.rule, caught.value.step) == ("ATB-SETUP", "Execute")
        operation.forward(inputs)  # its setup is over with it
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.execute(context)
        assert caught.value.rule == "ATB-CONTEXT-SAME"
        operation.setup(inputs, inputs[2:4], context)
        with pytest.raises(ValueError, match="one is given, accepted are both or none"):
            operation.execute(context, None, inputs)
        with pytest.raises(ValueError, match="workspace: a strided array, accepted is a writable"):
            operation.execute(context, np.empty((4, 4), np.uint8)[:, ::2])
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.execute(atb.Context(context.stream))
        assert caught.value.rule == "ATB-CONTEXT-SAME"
        context.stream = None
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.execute(context)
        assert caught.value.rule == "ATB-STREAM"
        with pytest.raises(TypeError, match="Context: stream: a str"):
            context.stream = "stream"


# ---- what is wrong


def refusal(inputs: Any, operation: atb.Operation | None = None) -> atb.AtbError:
    with pytest.raises(atb.AtbError) as caught:
        (operation or reshape_and_cache()).forward(inputs)
    return caught.value


def test_a_refusal_says_everything() -> None:
    inputs = tokens()
    inputs[3] = inputs[3][:1]
    error = refusal(inputs)
    assert isinstance(error, ValueError) and isinstance(error, pyaclnn.AclnnError)
    assert (error.code, error.name) == (8, "ERROR_INVALID_TENSOR_DIM")
    assert (error.operator, error.step) == ("ReshapeAndCacheOperation", "InferShape")
    assert (error.rule, error.parameter) == ("RAC-BLOCK-COUNT", "valueCache")
    assert error.tensor == "inTensors[3]"
    assert str(error) == (
        "8: ReshapeAndCacheOperation::InferShape: valueCache (inTensors[3]): shape (1, 2, 2, 4), "
        "must have the 2 blocks of keyCache [rule RAC-BLOCK-COUNT, product Atlas A2]"
    )
    record = pyaclnn.explain()
    assert record is not None
    assert (record["step"], record["findings"][0]["index"]) == ("InferShape", 3)
    assert not inputs[2].any()
    again = pickle.loads(pickle.dumps(error))
    assert (again.step, again.tensor, again.name) == (error.step, error.tensor, error.name)
    assert str(again) == str(error)


def test_create() -> None:
    with pytest.raises(atb.AtbInvalidError) as caught:
        atb.Operation(atb.ReshapeAndCacheParam(rsv=b"\0\1"))
    error = caught.value
    assert (error.code, error.step, error.rule) == (1, "CreateOperation", "ATB-RESERVED")
    assert (error.parameter, error.tensor, error.name) == ("rsv", None, "ERROR_INVALID_PARAM")
    with product("ascend-950"), pytest.raises(atb.AtbError) as other:
        reshape_and_cache()
    assert (other.value.code, other.value.name) == (12, "ERROR_CANN_ERROR")
    assert type(other.value) is atb.AtbError


def test_setup_and_outputs() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    with session() as (_, context):
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.setup(inputs, [inputs[2], inputs[2]], context)
        error = caught.value
        assert (error.step, error.rule, error.code) == ("Setup", "ATB-IN-PLACE", 8)
        assert (error.parameter, error.tensor) == ("valueCache", "outTensors[1]")
        with pytest.raises(atb.AtbInvalidError) as caught:
            operation.setup(inputs, inputs[2:3], context)
        assert (caught.value.code, caught.value.rule) == (5, "ATB-OUT-COUNT")


def test_the_numbers_of_tensors() -> None:
    assert refusal(tokens()[:4]).rule == "ATB-IN-COUNT"
    assert refusal([*tokens(), np.zeros(1, np.int32)]).rule == "ATB-IN-COUNT"
    assert refusal([]).code == 5
    inputs = tokens()
    inputs[4] = None
    assert refusal(inputs).rule == "ATB-DIM-NUM"
    inputs[4] = np.zeros((1,) * 9, np.int32)
    assert (refusal(inputs).code, refusal(inputs).tensor) == (8, "inTensors[4]")
    inputs[4] = np.zeros(0, np.int32)
    assert refusal(inputs).name == "ERROR_INVALID_TENSOR_SIZE"
    inputs[4] = np.zeros(3, np.int64)
    assert refusal(inputs).name == "ERROR_INVALID_TENSOR_INI_MATCH"
    # A tensor of tensors, where none is wanted.
    inputs = tokens()
    inputs[4] = [np.zeros(3, np.int32)] * 2
    assert refusal(inputs).rule == "RAC-RANK"


def test_late_faults() -> None:
    operation, inputs = reshape_and_cache(), tokens()
    inputs[4][1] = 4
    with pytest.raises(pyaclnn.AclDeviceFaultError) as caught:
        operation.forward(inputs)
    assert caught.value.code == 507015
    assert "ReshapeAndCacheOperation: slotMapping[1] is 4" in str(caught.value)
    inputs[4][1] = 1
    operation.forward(inputs)
    assert (inputs[2].reshape(4, 2, 4)[1] == inputs[0][1]).all()


@pytest.mark.parametrize(
    ("place", "change", "error", "text"),
    [
        (0, lambda array: array[:, :, ::2], ValueError, r"inputs[0] (key): an array of shape"),
        (1, lambda array: array.tolist(), TypeError, "inputs[1] (value)[0]"),
        (1, lambda array: [None, None], TypeError, "inputs[1] (value)[0]: a NoneType"),
        (1, lambda array: [[array]], TypeError, "inputs[1] (value)[0]: a list"),
        (2, lambda array: "cache", TypeError, "inputs[2] (keyCache): a str"),
        (4, lambda array: array.astype(np.str_), TypeError, "inputs[4] (slotMapping): dtype"),
        (3, lambda array: [array, array[0]], ValueError, "inputs[3] (valueCache): shapes"),
        (3, lambda array: [], ValueError, "inputs[3] (valueCache): shapes []"),
    ],
)
def test_what_is_no_tensor(place: int, change: Any, error: type[Exception], text: str) -> None:
    inputs = tokens()
    inputs[place] = change(inputs[place])
    with pytest.raises(error) as caught:
        reshape_and_cache().forward(inputs)
    assert text in str(caught.value)
    assert "ReshapeAndCacheOperation" in str(caught.value)


def test_read_only_memory_is_not_written() -> None:
    inputs = tokens()
    inputs[2].flags.writeable = False
    with pytest.raises(ValueError, match=r"inputs\[2\] \(keyCache\): a read-only array"):
        reshape_and_cache().forward(inputs)
    out = np.zeros(3, np.float16)
    out.flags.writeable = False
    negative = atb.Operation(atb.ElewiseParam(elewiseType=Elewise.ELEWISE_NEG))
    with pytest.raises(ValueError, match=r"outputs\[0\].*read-only"):
        negative.forward([np.ones(3, np.float16)], [out])
    given = np.ones(3, np.float16)
    given.flags.writeable = False
    assert (negative.forward([given])[0] == -1).all()


def test_rules() -> None:
    rules = pyaclnn.rules("ReshapeAndCacheOperation")
    steps = list(dict.fromkeys(rule["step"] for rule in rules))
    assert steps == ["CreateOperation", "InferShape", "Setup", "Execute"]
    with pytest.raises(ValueError, match=r"'ReshapeAndCach'.*ReshapeAndCacheOperation"):
        pyaclnn.rules("ReshapeAndCach")


# ---- attention


def attend(q: Any, k: Any, v: Any, scale: float) -> Any:
    """Of one head: every query row over all keys."""
    scores = scale * q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v.astype(np.float64)


def close(got: Any, wanted: Any) -> bool:
    """float16, rounded once."""
    bound = 1.01 * 2**-11 * np.abs(wanted) + 2**-16
    return bool((np.abs(got.astype(np.float64) - wanted) <= bound).all())


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(np.float16)


def test_a_decoder_writes_its_caches() -> None:
    """They are inputs, in no output, and still must be writable."""
    decoder = atb.Operation(
        atb.SelfAttentionParam(
            headNum=2, qkScale=0.25, calcType=atb.SelfAttentionParam.CalcType.DECODER
        )
    )
    names = ["query", "key", "value", "cacheK", "cacheV", "tokenOffset", "seqLen", "layerId"]
    assert [info.name for info in decoder.inputs] == names
    assert [info.name for info in decoder.inputs if info.written] == ["cacheK", "cacheV"]
    assert [info.name for info in decoder.inputs if info.on_host] == ["tokenOffset", "seqLen"]
    caches = [random(1, 2, 8, 32), random(1, 2, 8, 32) / 2]
    new = [random(2, 32), random(3, 32)[:2], random(4, 32)[:2]]
    lengths = [np.array([3, 8], np.int32), np.ones(2, np.int32), np.zeros(1, np.int32)]
    (out,) = decoder.forward([*new, *caches, *lengths])
    assert (caches[0][0, 0, 2] == new[1][0]).all() and (caches[1][0, 1, 7] == new[2][1]).all()
    for b, length in enumerate(lengths[0]):
        for head in range(2):
            part = slice(16 * head, 16 * head + 16)
            k, v = (cache[0, b, :length, part] for cache in caches)
            assert close(out[b, part], attend(new[0][b : b + 1, part], k, v, 0.25)[0])
    caches[0].flags.writeable = False
    with pytest.raises(ValueError, match=r"inputs\[3\] \(cacheK\): a read-only array"):
        decoder.forward([*new, *caches, *lengths])
    param = atb.SelfAttentionParam(headNum=2, calcType=2, kvcacheCfg=1)
    assert not any(info.written for info in atb.Operation(param).inputs)


def test_a_list_of_caches() -> None:
    """One tensor for each sequence: a list in the place of the tensor."""
    decoder = atb.Operation(
        atb.SelfAttentionParam(headNum=2, qkScale=0.25, calcType=2, kvcacheCfg=1)
    )
    query, keys, values = random(2, 32), [random(8, 32)] * 2, [random(9, 32)[:8]] * 2
    lengths = [np.array([3, 8], np.int32), np.ones(2, np.int32), np.zeros(1, np.int32)]
    (out,) = decoder.forward([query, keys, values, *lengths])
    for b, length in enumerate(lengths[0]):
        for head in range(2):
            part = slice(16 * head, 16 * head + 16)
            k, v = keys[b][:length, part], values[b][:length, part]
            assert close(out[b, part], attend(query[b : b + 1, part], k, v, 0.25)[0])
    # Queued, without the lists.
    with stream_mode("lazy"), session() as (stream, context):
        again = np.zeros_like(out)
        decoder.setup([query, keys, values, *lengths], [again], context)
        decoder.execute(context)
        del keys, values
        gc.collect()
        stream.synchronize()
        assert np.array_equal(again, out)
    with pytest.raises(atb.AtbInvalidError) as caught:
        decoder.forward([query, [random(8, 32)] * 3, [random(8, 32)] * 3, *lengths])
    assert (caught.value.step, caught.value.rule) == ("InferShape", "SA-BATCH")


def test_paged_attention() -> None:
    attention = atb.Operation(atb.PagedAttentionParam(headNum=4, kvHeadNum=2, qkScale=0.25))
    query = random(2, 4, 16)
    caches = [random(3, 16, 2, 16), random(3, 16, 2, 16) / 2]
    table, lengths = np.array([[2, 0], [1, 0]], np.int32), np.array([20, 5], np.int32)
    (out,) = attention.forward([query, *caches, table, lengths])
    assert out.shape == query.shape
    for b, length in enumerate(lengths):
        k, v = (cache[table[b]].reshape(32, 2, 16)[:length] for cache in caches)
        for head in range(4):
            wanted = attend(query[b, head : head + 1], k[:, head // 2], v[:, head // 2], 0.25)[0]
            assert close(out[b, head], wanted)
    table[0, 0] = 3
    with pytest.raises(pyaclnn.AclDeviceFaultError, match="block table entry"):
        attention.forward([query, *caches, table, lengths])
    with pytest.raises(atb.AtbError) as caught:
        attention.forward([query[:, :3].copy(), *caches, table, lengths])
    assert (caught.value.step, caught.value.parameter) == ("Setup", "query")


def test_parameters_that_are_not_offered() -> None:
    with pytest.raises(AttributeError, match=r"LinearParam: not offered; .*PagedAttentionParam"):
        _ = atb.LinearParam
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = atb.Nothing
