# Generated from the headers below include/ by .ci/gen. Do not edit.
"""What the headers say of first phases."""

# Operator -> (what it computes, {parameter: shapes, dtypes, units}, what it returns).
DESCRIPTIONS: dict[str, tuple[tuple[str, ...], dict[str, str], str]] = {
    "aclnnAbs": (
        (
            "First phase of aclnnAbs: checks the arguments and plans the call.",
            "out = the magnitude of self.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAdd": (
        (
            "First phase of aclnnAdd: checks the arguments and plans the call.",
            "out = self + alpha * other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "alpha": "factor of other",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAddV3": (
        (
            "First phase of aclnnAddV3: checks the arguments and plans the call.",
            "out = self + alpha * other with a number on the left.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "alpha": "factor of other",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAdds": (
        (
            "First phase of aclnnAdds: checks the arguments and plans the call.",
            "out = self + alpha * other with a number.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "alpha": "factor of other",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAll": (
        (
            "First phase of aclnnAll: checks the arguments and plans the call.",
            "out = whether every value is not 0, over dimensions.",
        ),
        {
            "self": "input",
            "dim": "dimensions that go, negative from the end; NULL or empty: all",
            "keepdim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place; BOOL or UINT8",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAmax": (
        (
            "First phase of aclnnAmax: checks the arguments and plans the call.",
            "out = the largest value over dimensions; NaN wins.",
        ),
        {
            "self": "input",
            "dim": "dimensions that go, negative from the end; NULL or empty: all",
            "keepDim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAmin": (
        (
            "First phase of aclnnAmin: checks the arguments and plans the call.",
            "out = the smallest value over dimensions; NaN wins.",
        ),
        {
            "self": "input",
            "dim": "dimensions that go, negative from the end; NULL or empty: all",
            "keepDim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnAny": (
        (
            "First phase of aclnnAny: checks the arguments and plans the call.",
            "out = whether one value at least is not 0, over dimensions.",
        ),
        {
            "self": "input",
            "dim": "dimensions that go, negative from the end; NULL or empty: all",
            "keepdim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place; BOOL or UINT8",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnArange": (
        (
            "First phase of aclnnArange: checks the arguments and plans the call.",
            "out[i] = start + i * step. The number of elements of out must be that of the values from start to before end.",
        ),
        {
            "start": "first value",
            "end": "end, not reached",
            "step": "distance of the values, not 0",
            "out": "output of one dimension",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnArgMax": (
        (
            "First phase of aclnnArgMax: checks the arguments and plans the call.",
            "out = where the first of the largest values stands in a dimension; NaN wins.",
        ),
        {
            "self": "input",
            "dim": "dimension, negative from the end",
            "keepdim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place; INT32 or INT64",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnArgMin": (
        (
            "First phase of aclnnArgMin: checks the arguments and plans the call.",
            "out = where the first of the smallest values stands in a dimension; NaN wins.",
        ),
        {
            "self": "input",
            "dim": "dimension, negative from the end",
            "keepdim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place; INT32 or INT64",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseAndScalar": (
        (
            "First phase of aclnnBitwiseAndScalar: checks the arguments and plans the call.",
            "out = self and other, bit by bit, with a number.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseAndTensor": (
        (
            "First phase of aclnnBitwiseAndTensor: checks the arguments and plans the call.",
            "out = self and other, bit by bit, of integers or bool. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseNot": (
        (
            "First phase of aclnnBitwiseNot: checks the arguments and plans the call.",
            "out = self with every bit turned, of integers; of bool, what is not true.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseOrScalar": (
        (
            "First phase of aclnnBitwiseOrScalar: checks the arguments and plans the call.",
            "out = self or other, bit by bit, with a number.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseOrTensor": (
        (
            "First phase of aclnnBitwiseOrTensor: checks the arguments and plans the call.",
            "out = self or other, bit by bit, of integers or bool. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseXorScalar": (
        (
            "First phase of aclnnBitwiseXorScalar: checks the arguments and plans the call.",
            "out = self xor other, bit by bit, with a number.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnBitwiseXorTensor": (
        (
            "First phase of aclnnBitwiseXorTensor: checks the arguments and plans the call.",
            "out = self xor other, bit by bit, of integers or bool. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnCast": (
        (
            "First phase of aclnnCast: checks the arguments and plans the call.",
            "out = self in another dtype. Floats become integers toward zero, imaginary parts are dropped.",
        ),
        {
            "self": "input",
            "dtype": "the dtype of out",
            "out": "output; the shape of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnCat": (
        (
            "First phase of aclnnCat: checks the arguments and plans the call.",
            "out = the tensors one behind the other along a dimension. Each is converted to the dtype of out; tensors of shape (0) are left out.",
        ),
        {
            "tensors": "at least one tensor; dimensions are equal but for dim",
            "dim": "dimension, negative from the end",
            "out": "output; its dimension dim is the sum of theirs",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnCeil": (
        (
            "First phase of aclnnCeil: checks the arguments and plans the call.",
            "out = self rounded up.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnClamp": (
        (
            "First phase of aclnnClamp: checks the arguments and plans the call.",
            "out = self, but at least clipValueMin and at most clipValueMax; NaN stays.",
        ),
        {
            "self": "input",
            "clipValueMin": "lower bound; NULL: none",
            "clipValueMax": "upper bound; NULL: none",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnClampMax": (
        (
            "First phase of aclnnClampMax: checks the arguments and plans the call.",
            "out = self, but at most clipValueMax; NaN stays.",
        ),
        {
            "self": "input",
            "clipValueMax": "upper bound",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnClampMaxTensor": (
        (
            "First phase of aclnnClampMaxTensor: checks the arguments and plans the call.",
            "out = self, but at most clipValueMax, element by element. The inputs broadcast.",
        ),
        {
            "self": "input",
            "clipValueMax": "upper bounds",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnClampMin": (
        (
            "First phase of aclnnClampMin: checks the arguments and plans the call.",
            "out = self, but at least clipValueMin; NaN stays.",
        ),
        {
            "self": "input",
            "clipValueMin": "lower bound",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnClampMinTensor": (
        (
            "First phase of aclnnClampMinTensor: checks the arguments and plans the call.",
            "out = self, but at least clipValueMin, element by element. The inputs broadcast.",
        ),
        {
            "self": "input",
            "clipValueMin": "lower bounds",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnClampTensor": (
        (
            "First phase of aclnnClampTensor: checks the arguments and plans the call.",
            "out = self, but at least clipValueMin and at most clipValueMax, element by element. The inputs broadcast.",
        ),
        {
            "self": "input",
            "clipValueMin": "lower bounds",
            "clipValueMax": "upper bounds",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnCos": (
        (
            "First phase of aclnnCos: checks the arguments and plans the call.",
            "out = the cosine of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnDiv": (
        (
            "First phase of aclnnDiv: checks the arguments and plans the call.",
            "out = self / other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules. Integers are divided in float32.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnDivs": (
        (
            "First phase of aclnnDivs: checks the arguments and plans the call.",
            "out = self / other with a number. Integers are divided in float32.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnEqScalar": (
        (
            "First phase of aclnnEqScalar: checks the arguments and plans the call.",
            "out = self == other with a number, which is converted to the dtype of self first.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnEqTensor": (
        (
            "First phase of aclnnEqTensor: checks the arguments and plans the call.",
            "out = self == other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnEqual": (
        (
            "First phase of aclnnEqual: checks the arguments and plans the call.",
            "out = whether self and other have one shape and equal values.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output: one BOOL",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnErf": (
        (
            "First phase of aclnnErf: checks the arguments and plans the call.",
            "out = the error function of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnExp": (
        (
            "First phase of aclnnExp: checks the arguments and plans the call.",
            "out = e to the power of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnExp2": (
        (
            "First phase of aclnnExp2: checks the arguments and plans the call.",
            "out = 2 to the power of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnExpm1": (
        (
            "First phase of aclnnExpm1: checks the arguments and plans the call.",
            "out = exp(self) - 1. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnEye": (
        (
            "First phase of aclnnEye: checks the arguments and plans the call.",
            "out = 1 on the diagonal and 0 elsewhere.",
        ),
        {
            "n": "rows",
            "m": "columns",
            "out": "output of shape (n, m)",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnFlip": (
        (
            "First phase of aclnnFlip: checks the arguments and plans the call.",
            "out = self backwards along dimensions.",
        ),
        {
            "self": "input",
            "dims": "dimensions, negative from the end",
            "out": "output; the shape and dtype of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnFloor": (
        (
            "First phase of aclnnFloor: checks the arguments and plans the call.",
            "out = self rounded down.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnFloorDivide": (
        (
            "First phase of aclnnFloorDivide: checks the arguments and plans the call.",
            "out = floor(self / other). The inputs broadcast; they are computed in the dtype they have in common, by torch's rules. Integers divided by 0 give 0.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnFloorDivides": (
        (
            "First phase of aclnnFloorDivides: checks the arguments and plans the call.",
            "out = floor(self / other) with a number. Integers divided by 0 give 0.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnFmodScalar": (
        (
            "First phase of aclnnFmodScalar: checks the arguments and plans the call.",
            "out = self - trunc(self / other) * other with a number. It has the sign of self; integers divided by 0 give 0.",
        ),
        {
            "self": "dividend",
            "other": "divisor",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnFmodTensor": (
        (
            "First phase of aclnnFmodTensor: checks the arguments and plans the call.",
            "out = self - trunc(self / other) * other. It has the sign of self; integers divided by 0 give 0. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "dividend",
            "other": "divisor",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnGatherV2": (
        (
            "First phase of aclnnGatherV2: checks the arguments and plans the call.",
            "out = the slices of self that index names, along a dimension.",
        ),
        {
            "self": "input",
            "dim": "dimension, negative from the end",
            "index": "where to read, INT32 or INT64; negative from the end. Values are checked when the task runs (507015)",
            "out": "output; the shape of self with that of index in the place of the dimension; the dtype of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnGeScalar": (
        (
            "First phase of aclnnGeScalar: checks the arguments and plans the call.",
            "out = self >= other with a number, which is converted to the dtype of self first.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnGeTensor": (
        (
            "First phase of aclnnGeTensor: checks the arguments and plans the call.",
            "out = self >= other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnGtScalar": (
        (
            "First phase of aclnnGtScalar: checks the arguments and plans the call.",
            "out = self > other with a number, which is converted to the dtype of self first.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnGtTensor": (
        (
            "First phase of aclnnGtTensor: checks the arguments and plans the call.",
            "out = self > other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnIncreFlashAttention": (
        (
            "First phase of aclnnIncreFlashAttention: checks the arguments and plans the call. Nothing is computed yet.",
            "Deprecated: kept for existing programs, new ones should call aclnnIncreFlashAttentionV4.",
            "Attention of one new token per sequence over a cache of keys and values (decoding):",
            "attentionOut = softmax(scaleValue * query * transpose(key), masked) * value",
            "B batch (at most 65536), N = numHeads, Nkv = key and value heads, S = key positions, D = head dimension (at most 512). Query head n uses key head n / (N / Nkv). Only the valid positions of a batch are read; a batch of length 0 gives zeros. Masked scores become -1e12, so a batch whose positions are all masked gives the mean of the values. Sums are in float32, the result is rounded once, to nearest even.",
            "Tensors may be strided views. Handles and arrays may be destroyed after the second phase has returned; the device memory must stay valid until the stream has passed it.",
        ),
        {
            "query": "the new token's query, FLOAT16 or BFLOAT16. BSH: (B, 1, N*D); BSND: (B, 1, N, D); BNSD: (B, N, 1, D). Required",
            "key": "cached keys, same data type as query. BSH: (B, S, Nkv*D); BSND: (B, S, Nkv, D); BNSD: (B, Nkv, S, D); either one tensor, or B tensors with first dimension 1 whose S may differ. Required",
            "value": "cached values; shapes, data type and count as key. Required",
            "pseShift": "ignored; pass NULL",
            "attenMask": "BOOL, INT8 or UINT8; 0 keeps, anything else masks a position out. (B, N, 1, S) or (1, N, 1, S). The first dimension must be B, the last at least the largest length used; one row per batch is used for all heads. NULL: no mask",
            "actualSeqLengths": "valid length of each batch, host array: at least B numbers, or one for all, each from 0 to S. Copied. NULL or empty: S for every batch",
            "numHeads": "N, number of query heads; a multiple of Nkv, at most 64 times Nkv",
            "scaleValue": "factor of the scores, usually 1 / sqrt(D); used as float",
            "inputLayout": "\"BSH\", \"BSND\" or \"BNSD\"; copied. NULL: \"BSH\"",
            "numKeyValueHeads": "Nkv, number of key and value heads, at most 256; 0: equal to numHeads",
            "attentionOut": "output, shape of query; data type of query. Written contiguously from its first element, whatever its strides. A zero dimension makes the call do nothing. Required",
        },
        "0 (ACLNN_SUCCESS); 161001 (ACLNN_ERR_PARAM_NULLPTR): a required pointer is NULL, or the product lacks the operator; 161002 (ACLNN_ERR_PARAM_INVALID): data types or formats of query, key, value and attentionOut do not go together, a list of 0 or more than 256 tensors, a dead or foreign handle; 561002 (ACLNN_ERR_INNER_TILING_ERROR): anything else, such as heads, shapes, lengths, layout or an optional tensor; 561000 (ACLNN_ERR_INNER): unknown product or libraries of different builds; 561101 (ACLNN_ERR_INNER_CREATE_EXECUTOR): no host memory. After a failure workspaceSize and executor are unchanged and aclGetRecentErrMsg() names the parameter.",
    ),
    "aclnnIncreFlashAttentionV2": (
        (
            "First phase of aclnnIncreFlashAttentionV2: checks the arguments and plans the call. Nothing is computed yet.",
            "Deprecated: kept for existing programs, new ones should call aclnnIncreFlashAttentionV4.",
            "Attention of one new token per sequence over a cache of keys and values (decoding):",
            "attentionOut = softmax(scaleValue * query * transpose(key), masked) * value",
            "B batch (at most 65536), N = numHeads, Nkv = key and value heads, S = key positions, D = head dimension (at most 512). Query head n uses key head n / (N / Nkv). Only the valid positions of a batch are read; a batch of length 0 gives zeros. Masked scores become -1e12, so a batch whose positions are all masked gives the mean of the values. Sums are in float32, the result is rounded once, to nearest even. For an INT8 output the result o is stored as round(o * quantScale2 + quantOffset2), saturated.",
            "Tensors may be strided views. Handles and arrays may be destroyed after the second phase has returned; the device memory must stay valid until the stream has passed it.",
        ),
        {
            "query": "the new token's query, FLOAT16 or BFLOAT16. BSH: (B, 1, N*D); BSND: (B, 1, N, D); BNSD: (B, N, 1, D). Required",
            "key": "cached keys, same data type as query. BSH: (B, S, Nkv*D); BSND: (B, S, Nkv, D); BNSD: (B, Nkv, S, D); either one tensor, or B tensors with first dimension 1 whose S may differ. Required",
            "value": "cached values; shapes, data type and count as key. Required",
            "pseShift": "ignored; pass NULL",
            "attenMask": "BOOL, INT8 or UINT8; 0 keeps, anything else masks a position out. (B, N, 1, S) or (1, N, 1, S). The first dimension must be B, the last at least the largest length used; one row per batch is used for all heads. NULL: no mask",
            "actualSeqLengths": "valid length of each batch, host array: at least B numbers, or one for all, each from 0 to S. Copied. NULL or empty: S for every batch",
            "dequantScale1": "reserved, must be NULL",
            "quantScale1": "reserved, must be NULL",
            "dequantScale2": "reserved, must be NULL",
            "quantScale2": "scale of an INT8 output, FLOAT, or BFLOAT16 if query is: one number, or N*D numbers shaped (N, D), (1, N, D), (1, 1, N, D), (N, 1, D), (1, N, 1, D), (N*D), (1, N*D) or (1, 1, N*D). Required for an INT8 attentionOut, else NULL",
            "quantOffset2": "offset of an INT8 output, data type and number of elements as quantScale2. NULL: 0",
            "numHeads": "N, number of query heads; a multiple of Nkv, at most 64 times Nkv",
            "scaleValue": "factor of the scores, usually 1 / sqrt(D); used as float",
            "inputLayout": "\"BSH\", \"BSND\" or \"BNSD\"; copied. NULL: \"BSH\"",
            "numKeyValueHeads": "Nkv, number of key and value heads, at most 256; 0: equal to numHeads",
            "attentionOut": "output, shape of query; data type of query, or INT8 with quantScale2. Written contiguously from its first element, whatever its strides. A zero dimension makes the call do nothing. Required",
        },
        "0 (ACLNN_SUCCESS); 161001 (ACLNN_ERR_PARAM_NULLPTR): a required pointer is NULL, or the product lacks the operator; 161002 (ACLNN_ERR_PARAM_INVALID): data types or formats of query, key, value and attentionOut do not go together, a list of 0 or more than 256 tensors, a dead or foreign handle; 561002 (ACLNN_ERR_INNER_TILING_ERROR): anything else, such as heads, shapes, lengths, layout or an optional tensor; 561000 (ACLNN_ERR_INNER): unknown product or libraries of different builds; 561101 (ACLNN_ERR_INNER_CREATE_EXECUTOR): no host memory. After a failure workspaceSize and executor are unchanged and aclGetRecentErrMsg() names the parameter.",
    ),
    "aclnnIncreFlashAttentionV3": (
        (
            "First phase of aclnnIncreFlashAttentionV3: checks the arguments and plans the call. Nothing is computed yet.",
            "Deprecated: kept for existing programs, new ones should call aclnnIncreFlashAttentionV4.",
            "Attention of one new token per sequence over a cache of keys and values (decoding):",
            "attentionOut = softmax(scaleValue * query * transpose(key) + pseShift, masked) * value",
            "B batch (at most 65536), N = numHeads, Nkv = key and value heads, S = key positions, D = head dimension (at most 512). Query head n uses key head n / (N / Nkv). Only the valid positions of a batch are read; a batch of length 0 gives zeros. Masked scores become -1e12, so a batch whose positions are all masked gives the mean of the values. Sums are in float32, the result is rounded once, to nearest even. For an INT8 output the result o is stored as round(o * quantScale2 + quantOffset2), saturated. INT8 keys and values are used as (number + antiquantOffset) * antiquantScale.",
            "Paged cache: key and value are one tensor each, (blocks, blockSize, Nkv*D) with every layout (Nkv*D at most 65535), or (blocks, Nkv, blockSize, D) with BNSD. Token t of batch b is in block blocktable[b][t / blockSize], row t % blockSize; actualSeqLengths is required.",
            "Tensors may be strided views. Handles and arrays may be destroyed after the second phase has returned; the device memory must stay valid until the stream has passed it.",
        ),
        {
            "query": "the new token's query, FLOAT16 or BFLOAT16. BSH: (B, 1, N*D); BSND: (B, 1, N, D); BNSD: (B, N, 1, D). Required",
            "key": "cached keys, same data type as query, or INT8. BSH: (B, S, Nkv*D); BSND: (B, S, Nkv, D); BNSD: (B, Nkv, S, D); either one tensor, or B tensors with first dimension 1 whose S may differ; or a paged cache, see above. Required",
            "value": "cached values; shapes, data type and count as key. Required",
            "pseShift": "added to the scaled scores, data type of query: (B, N, 1, Sp) or (1, N, 1, Sp) with Sp at least S (paged: M * blockSize). NULL: none",
            "attenMask": "BOOL, INT8 or UINT8; 0 keeps, anything else masks a position out. (B, S), (B, 1, S) or (B, 1, 1, S). The first dimension must be B, the last at least the largest length used (with paging: at least M * blockSize); one row per batch is used for all heads. NULL: no mask",
            "actualSeqLengths": "valid length of each batch, host array: at least B numbers, or one for all, each from 0 to S. Copied. NULL or empty: S for every batch; not with paging",
            "dequantScale1": "reserved, must be NULL",
            "quantScale1": "reserved, must be NULL",
            "dequantScale2": "reserved, must be NULL",
            "quantScale2": "scale of an INT8 output, FLOAT, or BFLOAT16 if query is: one number, or N*D numbers shaped (N, D), (1, N, D), (1, 1, N, D), (N, 1, D), (1, N, 1, D), (N*D), (1, N*D) or (1, 1, N*D). Required for an INT8 attentionOut, else NULL",
            "quantOffset2": "offset of an INT8 output, data type and number of elements as quantScale2. NULL: 0",
            "antiquantScale": "scales of INT8 keys and values, data type of query: (2) for one pair, or (2, Nkv, 1, D), (2, 1, Nkv, D), (2, Nkv, D), (2, Nkv*D); first the keys', then the values'. Required for INT8 keys, else NULL",
            "antiquantOffset": "offsets of INT8 keys and values, added before scaling; data type and shape as antiquantScale. NULL: 0",
            "blocktable": "INT32 (B, M): block numbers of each batch's paged cache. Its presence turns paging on. Read when the task runs: a number outside the cache makes the task fail. NULL: no paging",
            "numHeads": "N, number of query heads; a multiple of Nkv, at most 64 times Nkv",
            "scaleValue": "factor of the scores, usually 1 / sqrt(D); used as float",
            "inputLayout": "\"BSH\", \"BSND\" or \"BNSD\"; copied. NULL: \"BSH\"",
            "numKeyValueHeads": "Nkv, number of key and value heads, at most 256; 0: equal to numHeads",
            "blockSize": "tokens of a cache block, up to 512; a multiple of 16, or of 32 for INT8. Ignored without paging",
            "innerPrecise": "0 high precision, 1 high performance; the results are the same here",
            "attentionOut": "output, shape of query; data type of query, or INT8 with quantScale2. Written contiguously from its first element, whatever its strides. A zero dimension makes the call do nothing. Required",
        },
        "0 (ACLNN_SUCCESS); 161001 (ACLNN_ERR_PARAM_NULLPTR): a required pointer is NULL, or the product lacks the operator; 161002 (ACLNN_ERR_PARAM_INVALID): data types or formats of query, key, value and attentionOut do not go together, a list of 0 or more than 256 tensors, a dead or foreign handle; 561002 (ACLNN_ERR_INNER_TILING_ERROR): anything else, such as heads, shapes, lengths, layout or an optional tensor; 561000 (ACLNN_ERR_INNER): unknown product or libraries of different builds; 561101 (ACLNN_ERR_INNER_CREATE_EXECUTOR): no host memory. After a failure workspaceSize and executor are unchanged and aclGetRecentErrMsg() names the parameter.",
    ),
    "aclnnIncreFlashAttentionV4": (
        (
            "First phase of aclnnIncreFlashAttentionV4: checks the arguments and plans the call. Nothing is computed yet.",
            "Attention of one new token per sequence over a cache of keys and values (decoding):",
            "attentionOut = softmax(scaleValue * query * transpose(key) + pseShift, masked) * value",
            "B batch (at most 65536), N = numHeads, Nkv = key and value heads, S = key positions, D = head dimension (at most 512). Query head n uses key head n / (N / Nkv). Only the valid positions of a batch are read; a batch of length 0 gives zeros. Masked scores become -1e12, so a batch whose positions are all masked gives the mean of the values. Sums are in float32, the result is rounded once, to nearest even. For an INT8 output the result o is stored as round(o * quantScale2 + quantOffset2), saturated. INT8 keys and values are used as (number + antiquantOffset) * antiquantScale.",
            "Paged cache: key and value are one tensor each, (blocks, blockSize, Nkv*D) with every layout (Nkv*D at most 65535), or (blocks, Nkv, blockSize, D) with BNSD. Token t of batch b is in block blocktable[b][t / blockSize], row t % blockSize; actualSeqLengths is required.",
            "Tensors may be strided views. Handles and arrays may be destroyed after the second phase has returned; the device memory must stay valid until the stream has passed it.",
        ),
        {
            "query": "the new token's query, FLOAT16 or BFLOAT16. BSH: (B, 1, N*D); BSND: (B, 1, N, D); BNSD: (B, N, 1, D). Required",
            "key": "cached keys, same data type as query, or INT8. BSH: (B, S, Nkv*D); BSND: (B, S, Nkv, D); BNSD: (B, Nkv, S, D); either one tensor, or B tensors with first dimension 1 whose S may differ; or a paged cache, see above. Required",
            "value": "cached values; shapes, data type and count as key. Required",
            "pseShift": "added to the scaled scores, data type of query: (B, N, 1, Sp) or (1, N, 1, Sp) with Sp at least S (paged: M * blockSize). NULL: none",
            "attenMask": "BOOL, INT8 or UINT8; 0 keeps, anything else masks a position out. (B, S), (B, 1, S) or (B, 1, 1, S). The first dimension must be B, the last at least the largest length used (with paging: at least M * blockSize); one row per batch is used for all heads. NULL: no mask",
            "actualSeqLengths": "valid length of each batch, host array: at least B numbers, or one for all, each from 0 to S. Copied. NULL or empty: S for every batch; not with paging",
            "dequantScale1": "reserved, must be NULL",
            "quantScale1": "reserved, must be NULL",
            "dequantScale2": "reserved, must be NULL",
            "quantScale2": "scale of an INT8 output, FLOAT, or BFLOAT16 if query is: one number, or N*D numbers shaped (N, D), (1, N, D), (1, 1, N, D), (N, 1, D), (1, N, 1, D), (N*D), (1, N*D) or (1, 1, N*D). Required for an INT8 attentionOut, else NULL",
            "quantOffset2": "offset of an INT8 output, data type and number of elements as quantScale2. NULL: 0",
            "antiquantScale": "scales of INT8 keys and values, data type of query: (2) for one pair, or (2, Nkv, 1, D), (2, 1, Nkv, D), (2, Nkv, D), (2, Nkv*D); first the keys', then the values'. Required for INT8 keys, else NULL",
            "antiquantOffset": "offsets of INT8 keys and values, added before scaling; data type and shape as antiquantScale. NULL: 0",
            "blocktable": "INT32 (B, M): block numbers of each batch's paged cache. Its presence turns paging on. Read when the task runs: a number outside the cache makes the task fail. NULL: no paging",
            "kvPaddingSize": "INT64 (1), read when the task runs: unused positions at the end of the S axis, so that batch b occupies S - padding - length up to S - padding (left padding). A negative number counts as 0; a batch that would start before 0 gives zeros. Needs actualSeqLengths and one key tensor without paging, else it is ignored (Ascend 950 refuses it beside blocktable). NULL: the valid positions start at 0",
            "numHeads": "N, number of query heads; a multiple of Nkv, at most 64 times Nkv",
            "scaleValue": "factor of the scores, usually 1 / sqrt(D); used as float",
            "inputLayout": "\"BSH\", \"BSND\" or \"BNSD\"; copied. NULL: \"BSH\"",
            "numKeyValueHeads": "Nkv, number of key and value heads, at most 256; 0: equal to numHeads",
            "blockSize": "tokens of a cache block, up to 512; a multiple of 16, or of 32 for INT8. Ignored without paging",
            "innerPrecise": "0 high precision, 1 high performance; the results are the same here",
            "attentionOut": "output, shape of query; data type of query, or INT8 with quantScale2. Written contiguously from its first element, whatever its strides. A zero dimension makes the call do nothing. Required",
        },
        "0 (ACLNN_SUCCESS); 161001 (ACLNN_ERR_PARAM_NULLPTR): a required pointer is NULL, or the product lacks the operator; 161002 (ACLNN_ERR_PARAM_INVALID): data types or formats of query, key, value and attentionOut do not go together, a list of 0 or more than 256 tensors, a dead or foreign handle; 561002 (ACLNN_ERR_INNER_TILING_ERROR): anything else, such as heads, shapes, lengths, layout or an optional tensor; 561000 (ACLNN_ERR_INNER): unknown product or libraries of different builds; 561101 (ACLNN_ERR_INNER_CREATE_EXECUTOR): no host memory. After a failure workspaceSize and executor are unchanged and aclGetRecentErrMsg() names the parameter.",
    ),
    "aclnnIndex": (
        (
            "First phase of aclnnIndex: checks the arguments and plans the call.",
            "out = the elements of self that the indices name together. Indices of neighbouring dimensions are answered in their place, others in front of the dimensions that stay.",
        ),
        {
            "self": "input",
            "indices": "for each of the first dimensions of self INT32 or INT64 indices, which broadcast, or NULL or an empty tensor where the dimension stays. Negative ones count from the end; values are checked when the task runs (507015)",
            "out": "output in the dtype of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnIndexSelect": (
        (
            "First phase of aclnnIndexSelect: checks the arguments and plans the call.",
            "out = the slices of self that index names, along a dimension.",
        ),
        {
            "self": "input",
            "dim": "dimension, negative from the end",
            "index": "where to read, INT32 or INT64; negative from the end. Values are checked when the task runs (507015). One dimension, or none",
            "out": "output; the shape of self with the number of indices in the place of the dimension; the dtype of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceAdd": (
        (
            "First phase of aclnnInplaceAdd: checks the arguments and plans the call.",
            "selfRef = selfRef + alpha * other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
            "alpha": "factor of other",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceAdds": (
        (
            "First phase of aclnnInplaceAdds: checks the arguments and plans the call.",
            "selfRef = selfRef + alpha * other with a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
            "alpha": "factor of other",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceBitwiseAndScalar": (
        (
            "First phase of aclnnInplaceBitwiseAndScalar: checks the arguments and plans the call.",
            "selfRef = selfRef and other, bit by bit, with a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceBitwiseAndTensor": (
        (
            "First phase of aclnnInplaceBitwiseAndTensor: checks the arguments and plans the call.",
            "selfRef = selfRef and other, bit by bit, of integers or bool. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceBitwiseOrScalar": (
        (
            "First phase of aclnnInplaceBitwiseOrScalar: checks the arguments and plans the call.",
            "selfRef = selfRef or other, bit by bit, with a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceBitwiseOrTensor": (
        (
            "First phase of aclnnInplaceBitwiseOrTensor: checks the arguments and plans the call.",
            "selfRef = selfRef or other, bit by bit, of integers or bool. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceBitwiseXorScalar": (
        (
            "First phase of aclnnInplaceBitwiseXorScalar: checks the arguments and plans the call.",
            "selfRef = selfRef xor other, bit by bit, with a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceBitwiseXorTensor": (
        (
            "First phase of aclnnInplaceBitwiseXorTensor: checks the arguments and plans the call.",
            "selfRef = selfRef xor other, bit by bit, of integers or bool. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceCeil": (
        (
            "First phase of aclnnInplaceCeil: checks the arguments and plans the call.",
            "selfRef = selfRef rounded up.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceClampMax": (
        (
            "First phase of aclnnInplaceClampMax: checks the arguments and plans the call.",
            "selfRef = selfRef, but at most clipValueMax; NaN stays.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "clipValueMax": "upper bound",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceClampMin": (
        (
            "First phase of aclnnInplaceClampMin: checks the arguments and plans the call.",
            "selfRef = selfRef, but at least clipValueMin; NaN stays.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "clipValueMin": "lower bound",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceCopy": (
        (
            "First phase of aclnnInplaceCopy: checks the arguments and plans the call.",
            "selfRef = src, converted to the dtype of selfRef and broadcast to its shape. Floats become integers toward zero, imaginary parts are dropped.",
        ),
        {
            "selfRef": "what is written",
            "src": "what is read; its shape broadcasts to that of selfRef",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceCos": (
        (
            "First phase of aclnnInplaceCos: checks the arguments and plans the call.",
            "selfRef = the cosine of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceDiv": (
        (
            "First phase of aclnnInplaceDiv: checks the arguments and plans the call.",
            "selfRef = selfRef / other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules. Integers are divided in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceDivs": (
        (
            "First phase of aclnnInplaceDivs: checks the arguments and plans the call.",
            "selfRef = selfRef / other with a number. Integers are divided in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceEqScalar": (
        (
            "First phase of aclnnInplaceEqScalar: checks the arguments and plans the call.",
            "selfRef = selfRef == other with a number, which is converted to the dtype of selfRef first.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceEqTensor": (
        (
            "First phase of aclnnInplaceEqTensor: checks the arguments and plans the call.",
            "selfRef = selfRef == other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceErf": (
        (
            "First phase of aclnnInplaceErf: checks the arguments and plans the call.",
            "selfRef = the error function of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceExp": (
        (
            "First phase of aclnnInplaceExp: checks the arguments and plans the call.",
            "selfRef = e to the power of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceExp2": (
        (
            "First phase of aclnnInplaceExp2: checks the arguments and plans the call.",
            "selfRef = 2 to the power of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceExpm1": (
        (
            "First phase of aclnnInplaceExpm1: checks the arguments and plans the call.",
            "selfRef = exp(selfRef) - 1. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFillScalar": (
        (
            "First phase of aclnnInplaceFillScalar: checks the arguments and plans the call.",
            "selfRef = a number everywhere.",
        ),
        {
            "selfRef": "what is written",
            "value": "the number",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFillTensor": (
        (
            "First phase of aclnnInplaceFillTensor: checks the arguments and plans the call.",
            "selfRef = the value of a tensor everywhere.",
        ),
        {
            "selfRef": "what is written",
            "value": "one value: shape () or (1)",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFloor": (
        (
            "First phase of aclnnInplaceFloor: checks the arguments and plans the call.",
            "selfRef = selfRef rounded down.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFloorDivide": (
        (
            "First phase of aclnnInplaceFloorDivide: checks the arguments and plans the call.",
            "selfRef = floor(selfRef / other). The inputs broadcast; they are computed in the dtype they have in common, by torch's rules. Integers divided by 0 give 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFloorDivides": (
        (
            "First phase of aclnnInplaceFloorDivides: checks the arguments and plans the call.",
            "selfRef = floor(selfRef / other) with a number. Integers divided by 0 give 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFmodScalar": (
        (
            "First phase of aclnnInplaceFmodScalar: checks the arguments and plans the call.",
            "selfRef = selfRef - trunc(selfRef / other) * other with a number. It has the sign of self; integers divided by 0 give 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "divisor",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceFmodTensor": (
        (
            "First phase of aclnnInplaceFmodTensor: checks the arguments and plans the call.",
            "selfRef = selfRef - trunc(selfRef / other) * other. It has the sign of self; integers divided by 0 give 0. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "divisor",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceGeScalar": (
        (
            "First phase of aclnnInplaceGeScalar: checks the arguments and plans the call.",
            "selfRef = selfRef >= other with a number, which is converted to the dtype of selfRef first.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceGeTensor": (
        (
            "First phase of aclnnInplaceGeTensor: checks the arguments and plans the call.",
            "selfRef = selfRef >= other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceGtScalar": (
        (
            "First phase of aclnnInplaceGtScalar: checks the arguments and plans the call.",
            "selfRef = selfRef > other with a number, which is converted to the dtype of selfRef first.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceGtTensor": (
        (
            "First phase of aclnnInplaceGtTensor: checks the arguments and plans the call.",
            "selfRef = selfRef > other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLeScalar": (
        (
            "First phase of aclnnInplaceLeScalar: checks the arguments and plans the call.",
            "selfRef = selfRef <= other with a number, which is converted to the dtype of selfRef first.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLeTensor": (
        (
            "First phase of aclnnInplaceLeTensor: checks the arguments and plans the call.",
            "selfRef = selfRef <= other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLog": (
        (
            "First phase of aclnnInplaceLog: checks the arguments and plans the call.",
            "selfRef = the natural logarithm of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLog10": (
        (
            "First phase of aclnnInplaceLog10: checks the arguments and plans the call.",
            "selfRef = the logarithm of selfRef to base 10. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLog1p": (
        (
            "First phase of aclnnInplaceLog1p: checks the arguments and plans the call.",
            "selfRef = log(1 + selfRef). Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLog2": (
        (
            "First phase of aclnnInplaceLog2: checks the arguments and plans the call.",
            "selfRef = the logarithm of selfRef to base 2. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLogicalAnd": (
        (
            "First phase of aclnnInplaceLogicalAnd: checks the arguments and plans the call.",
            "selfRef = selfRef and other, of values that are 0 or not. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLogicalNot": (
        (
            "First phase of aclnnInplaceLogicalNot: checks the arguments and plans the call.",
            "selfRef = whether selfRef is 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLogicalOr": (
        (
            "First phase of aclnnInplaceLogicalOr: checks the arguments and plans the call.",
            "selfRef = selfRef or other, of values that are 0 or not. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLtScalar": (
        (
            "First phase of aclnnInplaceLtScalar: checks the arguments and plans the call.",
            "selfRef = selfRef < other with a number, which is converted to the dtype of selfRef first.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceLtTensor": (
        (
            "First phase of aclnnInplaceLtTensor: checks the arguments and plans the call.",
            "selfRef = selfRef < other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceMaskedFillScalar": (
        (
            "First phase of aclnnInplaceMaskedFillScalar: checks the arguments and plans the call.",
            "selfRef = value where mask is not 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "mask": "BOOL or UINT8; broadcasts to the shape of selfRef",
            "value": "the number",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceMaskedFillTensor": (
        (
            "First phase of aclnnInplaceMaskedFillTensor: checks the arguments and plans the call.",
            "selfRef = value where mask is not 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "mask": "BOOL or UINT8; broadcasts to the shape of selfRef",
            "value": "the values; broadcast to the shape of selfRef",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceMul": (
        (
            "First phase of aclnnInplaceMul: checks the arguments and plans the call.",
            "selfRef = selfRef * other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceMuls": (
        (
            "First phase of aclnnInplaceMuls: checks the arguments and plans the call.",
            "selfRef = selfRef * other with a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceNeScalar": (
        (
            "First phase of aclnnInplaceNeScalar: checks the arguments and plans the call.",
            "selfRef = selfRef != other with a number, which is converted to the dtype of selfRef first.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceNeTensor": (
        (
            "First phase of aclnnInplaceNeTensor: checks the arguments and plans the call.",
            "selfRef = selfRef != other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceNeg": (
        (
            "First phase of aclnnInplaceNeg: checks the arguments and plans the call.",
            "selfRef = -selfRef.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceOne": (
        (
            "First phase of aclnnInplaceOne: checks the arguments and plans the call.",
            "selfRef = 1 everywhere.",
        ),
        {
            "selfRef": "what is written",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplacePowTensorScalar": (
        (
            "First phase of aclnnInplacePowTensorScalar: checks the arguments and plans the call.",
            "selfRef = selfRef to the power of a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "exponent": "exponent",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplacePowTensorTensor": (
        (
            "First phase of aclnnInplacePowTensorTensor: checks the arguments and plans the call.",
            "selfRef = selfRef to the power of exponent. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "exponent": "exponent",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceReciprocal": (
        (
            "First phase of aclnnInplaceReciprocal: checks the arguments and plans the call.",
            "selfRef = 1 / selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceRelu": (
        (
            "First phase of aclnnInplaceRelu: checks the arguments and plans the call.",
            "selfRef = the larger of selfRef and 0; NaN stays.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceRemainderTensorScalar": (
        (
            "First phase of aclnnInplaceRemainderTensorScalar: checks the arguments and plans the call.",
            "selfRef = selfRef - floor(selfRef / other) * other with a number. It has the sign of other; integers divided by 0 give 0.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "divisor",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceRemainderTensorTensor": (
        (
            "First phase of aclnnInplaceRemainderTensorTensor: checks the arguments and plans the call.",
            "selfRef = selfRef - floor(selfRef / other) * other. It has the sign of other; integers divided by 0 give 0. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "divisor",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceRound": (
        (
            "First phase of aclnnInplaceRound: checks the arguments and plans the call.",
            "selfRef = selfRef rounded to the nearest integer, halves to even.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceRsqrt": (
        (
            "First phase of aclnnInplaceRsqrt: checks the arguments and plans the call.",
            "selfRef = 1 / sqrt(selfRef). Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceSigmoid": (
        (
            "First phase of aclnnInplaceSigmoid: checks the arguments and plans the call.",
            "selfRef = 1 / (1 + exp(-selfRef)). Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceSin": (
        (
            "First phase of aclnnInplaceSin: checks the arguments and plans the call.",
            "selfRef = the sine of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceSqrt": (
        (
            "First phase of aclnnInplaceSqrt: checks the arguments and plans the call.",
            "selfRef = the square root of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceSub": (
        (
            "First phase of aclnnInplaceSub: checks the arguments and plans the call.",
            "selfRef = selfRef - alpha * other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
            "alpha": "factor of other",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceSubs": (
        (
            "First phase of aclnnInplaceSubs: checks the arguments and plans the call.",
            "selfRef = selfRef - alpha * other with a number.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
            "other": "second operand",
            "alpha": "factor of other",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceTan": (
        (
            "First phase of aclnnInplaceTan: checks the arguments and plans the call.",
            "selfRef = the tangent of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceTanh": (
        (
            "First phase of aclnnInplaceTanh: checks the arguments and plans the call.",
            "selfRef = the hyperbolic tangent of selfRef. Integers are computed in float32.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceTril": (
        (
            "First phase of aclnnInplaceTril: checks the arguments and plans the call.",
            "selfRef = 0 where it is not on and below a diagonal of each matrix.",
        ),
        {
            "selfRef": "read and written; at least 2 dimensions, the last two of which are matrices",
            "diagonal": "the diagonal, 0 the main one, positive above it",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceTriu": (
        (
            "First phase of aclnnInplaceTriu: checks the arguments and plans the call.",
            "selfRef = 0 where it is not on and above a diagonal of each matrix.",
        ),
        {
            "selfRef": "read and written; at least 2 dimensions, the last two of which are matrices",
            "diagonal": "the diagonal, 0 the main one, positive above it",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceTrunc": (
        (
            "First phase of aclnnInplaceTrunc: checks the arguments and plans the call.",
            "selfRef = selfRef rounded toward zero.",
        ),
        {
            "selfRef": "read and written; the result must have its shape and fit its dtype's kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnInplaceZero": (
        (
            "First phase of aclnnInplaceZero: checks the arguments and plans the call.",
            "selfRef = 0 everywhere.",
        ),
        {
            "selfRef": "what is written",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnIsClose": (
        (
            "First phase of aclnnIsClose: checks the arguments and plans the call.",
            "out = whether elements are equal, or finite and |self - other| <= atol + |rtol * other|.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "rtol": "relative tolerance, from 0 on",
            "atol": "absolute tolerance, from 0 on",
            "equal_nan": "whether NaN is close to NaN",
            "out": "output of any dtype, the shape that self and other broadcast to",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnIsFinite": (
        (
            "First phase of aclnnIsFinite: checks the arguments and plans the call.",
            "out = whether self is neither infinite nor NaN.",
        ),
        {
            "self": "input",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnIsInf": (
        (
            "First phase of aclnnIsInf: checks the arguments and plans the call.",
            "out = whether self is infinite.",
        ),
        {
            "self": "input",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLeScalar": (
        (
            "First phase of aclnnLeScalar: checks the arguments and plans the call.",
            "out = self <= other with a number, which is converted to the dtype of self first.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLeTensor": (
        (
            "First phase of aclnnLeTensor: checks the arguments and plans the call.",
            "out = self <= other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLinspace": (
        (
            "First phase of aclnnLinspace: checks the arguments and plans the call.",
            "out = steps values at equal distances from start to end, both of them among these.",
        ),
        {
            "start": "first value",
            "end": "last value",
            "steps": "number of elements of out",
            "out": "output",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLog": (
        (
            "First phase of aclnnLog: checks the arguments and plans the call.",
            "out = the natural logarithm of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLog10": (
        (
            "First phase of aclnnLog10: checks the arguments and plans the call.",
            "out = the logarithm of self to base 10. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLog1p": (
        (
            "First phase of aclnnLog1p: checks the arguments and plans the call.",
            "out = log(1 + self). Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLog2": (
        (
            "First phase of aclnnLog2: checks the arguments and plans the call.",
            "out = the logarithm of self to base 2. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLogicalAnd": (
        (
            "First phase of aclnnLogicalAnd: checks the arguments and plans the call.",
            "out = self and other, of values that are 0 or not. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLogicalNot": (
        (
            "First phase of aclnnLogicalNot: checks the arguments and plans the call.",
            "out = whether self is 0.",
        ),
        {
            "self": "input",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLogicalOr": (
        (
            "First phase of aclnnLogicalOr: checks the arguments and plans the call.",
            "out = self or other, of values that are 0 or not. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLogicalXor": (
        (
            "First phase of aclnnLogicalXor: checks the arguments and plans the call.",
            "out = self xor other, of values that are 0 or not. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLtScalar": (
        (
            "First phase of aclnnLtScalar: checks the arguments and plans the call.",
            "out = self < other with a number, which is converted to the dtype of self first.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnLtTensor": (
        (
            "First phase of aclnnLtTensor: checks the arguments and plans the call.",
            "out = self < other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMaskedSelect": (
        (
            "First phase of aclnnMaskedSelect: checks the arguments and plans the call.",
            "out = the elements of self where mask is not 0, one behind the other. The two broadcast. The task gives out the shape of what it has found; aclGetViewShape() tells it after synchronising, if out is still alive.",
        ),
        {
            "self": "input",
            "mask": "BOOL or UINT8",
            "out": "output of one dimension with room for all elements, contiguous, in the dtype of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMax": (
        (
            "First phase of aclnnMax: checks the arguments and plans the call.",
            "out = the largest value; NaN wins.",
        ),
        {
            "self": "input, not empty",
            "out": "output of no dimensions",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMaxDim": (
        (
            "First phase of aclnnMaxDim: checks the arguments and plans the call.",
            "out = the largest value over a dimension, indices = where the first of these stands; NaN wins.",
        ),
        {
            "self": "input",
            "dim": "dimension, negative from the end",
            "keepDim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place",
            "indices": "output of the same shape; INT32 or INT64",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMaximum": (
        (
            "First phase of aclnnMaximum: checks the arguments and plans the call.",
            "out = the larger of self and other; NaN wins. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMean": (
        (
            "First phase of aclnnMean: checks the arguments and plans the call.",
            "out = the mean over dimensions.",
        ),
        {
            "self": "input",
            "dim": "dimensions that go, negative from the end; NULL or empty: all",
            "keepDim": "whether dimensions that went stay as 1",
            "dtype": "what is computed in, also the dtype of out",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMin": (
        (
            "First phase of aclnnMin: checks the arguments and plans the call.",
            "out = the smallest value; NaN wins.",
        ),
        {
            "self": "input, not empty",
            "out": "output of no dimensions",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMinDim": (
        (
            "First phase of aclnnMinDim: checks the arguments and plans the call.",
            "out = the smallest value over a dimension, indices = where the first of these stands; NaN wins.",
        ),
        {
            "self": "input",
            "dim": "dimension, negative from the end",
            "keepDim": "whether dimensions that went stay as 1",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place",
            "indices": "output of the same shape; INT32 or INT64",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMinimum": (
        (
            "First phase of aclnnMinimum: checks the arguments and plans the call.",
            "out = the smaller of self and other; NaN wins. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMul": (
        (
            "First phase of aclnnMul: checks the arguments and plans the call.",
            "out = self * other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnMuls": (
        (
            "First phase of aclnnMuls: checks the arguments and plans the call.",
            "out = self * other with a number.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnNeScalar": (
        (
            "First phase of aclnnNeScalar: checks the arguments and plans the call.",
            "out = self != other with a number, which is converted to the dtype of self first.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnNeTensor": (
        (
            "First phase of aclnnNeTensor: checks the arguments and plans the call.",
            "out = self != other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "out": "output, 1 where it is true and 0 elsewhere; the shape of the result, any dtype",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnNeg": (
        (
            "First phase of aclnnNeg: checks the arguments and plans the call.",
            "out = -self.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnNonzero": (
        (
            "First phase of aclnnNonzero: checks the arguments and plans the call.",
            "out = the places of the elements that are not 0, a row each. The task gives out the shape of what it has found; aclGetViewShape() tells it after synchronising, if out is still alive.",
        ),
        {
            "self": "input",
            "out": "output (n, dimensions of self), INT64, contiguous, with room for all elements",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnNonzeroV2": (
        (
            "First phase of aclnnNonzeroV2: checks the arguments and plans the call.",
            "out = the places of the elements that are not 0, a column each. The task gives out the shape of what it has found; aclGetViewShape() tells it after synchronising, if out is still alive.",
        ),
        {
            "self": "input",
            "out": "output (dimensions of self, n), INT64, contiguous, with room for all elements",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnPowScalarTensor": (
        (
            "First phase of aclnnPowScalarTensor: checks the arguments and plans the call.",
            "out = a number to the power of exponent.",
        ),
        {
            "self": "base",
            "exponent": "exponent",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnPowTensorScalar": (
        (
            "First phase of aclnnPowTensorScalar: checks the arguments and plans the call.",
            "out = self to the power of a number.",
        ),
        {
            "self": "base",
            "exponent": "exponent",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnPowTensorTensor": (
        (
            "First phase of aclnnPowTensorTensor: checks the arguments and plans the call.",
            "out = self to the power of exponent. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "base",
            "exponent": "exponent",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnReciprocal": (
        (
            "First phase of aclnnReciprocal: checks the arguments and plans the call.",
            "out = 1 / self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnReduceSum": (
        (
            "First phase of aclnnReduceSum: checks the arguments and plans the call.",
            "out = the sum over dimensions.",
        ),
        {
            "self": "input",
            "dims": "dimensions that go, negative from the end; NULL or empty: all",
            "keepDims": "whether dimensions that went stay as 1",
            "dtype": "what is computed in, also the dtype of out",
            "out": "output; the shape of self without the dimensions that go, or with 1 in their place",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRelu": (
        (
            "First phase of aclnnRelu: checks the arguments and plans the call.",
            "out = the larger of self and 0; NaN stays.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRemainderScalarTensor": (
        (
            "First phase of aclnnRemainderScalarTensor: checks the arguments and plans the call.",
            "out = self - floor(self / other) * other with a number on the left. It has the sign of other; integers divided by 0 give 0.",
        ),
        {
            "self": "dividend",
            "other": "divisor",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRemainderTensorScalar": (
        (
            "First phase of aclnnRemainderTensorScalar: checks the arguments and plans the call.",
            "out = self - floor(self / other) * other with a number. It has the sign of other; integers divided by 0 give 0.",
        ),
        {
            "self": "dividend",
            "other": "divisor",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRemainderTensorTensor": (
        (
            "First phase of aclnnRemainderTensorTensor: checks the arguments and plans the call.",
            "out = self - floor(self / other) * other. It has the sign of other; integers divided by 0 give 0. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "dividend",
            "other": "divisor",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRepeat": (
        (
            "First phase of aclnnRepeat: checks the arguments and plans the call.",
            "out = self, so many times along each dimension.",
        ),
        {
            "self": "input",
            "repeats": "times for each dimension of out, at least as many as self has dimensions",
            "out": "output; the shape of self times repeats; the dtype of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRound": (
        (
            "First phase of aclnnRound: checks the arguments and plans the call.",
            "out = self rounded to the nearest integer, halves to even.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRsqrt": (
        (
            "First phase of aclnnRsqrt: checks the arguments and plans the call.",
            "out = 1 / sqrt(self). Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRsub": (
        (
            "First phase of aclnnRsub: checks the arguments and plans the call.",
            "out = other - alpha * self. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "what is subtracted",
            "other": "what it is subtracted from",
            "alpha": "factor of self",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnRsubs": (
        (
            "First phase of aclnnRsubs: checks the arguments and plans the call.",
            "out = other - alpha * self with a number on the left.",
        ),
        {
            "self": "what is subtracted",
            "other": "what it is subtracted from",
            "alpha": "factor of self",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSWhere": (
        (
            "First phase of aclnnSWhere: checks the arguments and plans the call.",
            "out = self where condition is not 0, else other. The three broadcast; self and other are converted to the dtype they have in common.",
        ),
        {
            "condition": "BOOL or UINT8",
            "self": "values where it is true",
            "other": "values where it is not",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSigmoid": (
        (
            "First phase of aclnnSigmoid: checks the arguments and plans the call.",
            "out = 1 / (1 + exp(-self)). Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSign": (
        (
            "First phase of aclnnSign: checks the arguments and plans the call.",
            "result = 1, 0 or -1 by the sign of self; NaN gives 0.",
        ),
        {
            "self": "input",
            "result": "output; the shape of self and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSilu": (
        (
            "First phase of aclnnSilu: checks the arguments and plans the call.",
            "out = self / (1 + exp(-self)). Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSin": (
        (
            "First phase of aclnnSin: checks the arguments and plans the call.",
            "out = the sine of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSqrt": (
        (
            "First phase of aclnnSqrt: checks the arguments and plans the call.",
            "out = the square root of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnStack": (
        (
            "First phase of aclnnStack: checks the arguments and plans the call.",
            "out = the tensors one behind the other along a new dimension. Each is converted to the dtype of out.",
        ),
        {
            "tensors": "at least one tensor, all of one shape",
            "dim": "the new dimension, negative from the end",
            "out": "output; its dimension dim is their number",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSub": (
        (
            "First phase of aclnnSub: checks the arguments and plans the call.",
            "out = self - alpha * other. The inputs broadcast; they are computed in the dtype they have in common, by torch's rules.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "alpha": "factor of other",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnSubs": (
        (
            "First phase of aclnnSubs: checks the arguments and plans the call.",
            "out = self - alpha * other with a number.",
        ),
        {
            "self": "first operand",
            "other": "second operand",
            "alpha": "factor of other",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnTan": (
        (
            "First phase of aclnnTan: checks the arguments and plans the call.",
            "out = the tangent of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnTanh": (
        (
            "First phase of aclnnTanh: checks the arguments and plans the call.",
            "out = the hyperbolic tangent of self. Integers are computed in float32.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnTril": (
        (
            "First phase of aclnnTril: checks the arguments and plans the call.",
            "out = self on and below a diagonal of each matrix and 0 elsewhere.",
        ),
        {
            "self": "input of at least 2 dimensions, the last two of which are matrices",
            "diagonal": "the diagonal, 0 the main one, positive above it",
            "out": "output; the shape of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnTriu": (
        (
            "First phase of aclnnTriu: checks the arguments and plans the call.",
            "out = self on and above a diagonal of each matrix and 0 elsewhere.",
        ),
        {
            "self": "input of at least 2 dimensions, the last two of which are matrices",
            "diagonal": "the diagonal, 0 the main one, positive above it",
            "out": "output; the shape of self",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
    "aclnnTrunc": (
        (
            "First phase of aclnnTrunc: checks the arguments and plans the call.",
            "out = self rounded toward zero.",
        ),
        {
            "self": "input",
            "out": "output; the shape of the result and a dtype that can hold its kind",
        },
        "0; 161001: a required pointer is NULL; 161002: dtypes, shapes or values do not go together, aclGetRecentErrMsg() says which; 561000: unknown product or libraries of different builds; 561101: no host memory. After a failure the results are unchanged",
    ),
}
