"""What an estimator keeps in a model file beside the model: its parameters and attributes, as a text.

The text is JSON, so that opening a file runs no code. Values that JSON lacks are objects with one member that says what they are:
arrays in NumPy's own format, tuples, dictionaries with any keys, kernels by their class and members.
"""
import base64
import io
import json

import numpy as np

from . import kernels
from ._calibration import Calibration, PairCalibration


class Unkept(Exception):
    """A value that no text can hold, such as a function."""


def _to_text(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _from_text(text):
    return np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)


def _encode_array(array):
    if array.dtype == np.int64 and np.array_equal(array, np.arange(len(array))):
        return {"arange": len(array)}  # positions of samples that nobody moved, which may be many
    if array.dtype.kind not in "OT":
        return {"array": _to_text(array)}
    # Lengths of their own keep what an array of fixed width would cut off: zeros at the end.
    if not all(isinstance(item, str) for item in array.ravel()):
        raise Unkept("an array of objects")
    return {"texts": array.ravel().tolist(), "shape": list(array.shape), "kind": array.dtype.kind}


def _decode_texts(value):
    dtype = object if value["kind"] == "O" else np.dtypes.StringDType()
    array = np.empty(len(value["texts"]), dtype=dtype)
    array[:] = value["texts"]
    return array.reshape(value["shape"])


def _encode_kernel(kernel):
    kind = type(kernel).__name__
    if isinstance(kernel, kernels.Callable) or getattr(kernels, kind, None) is not type(kernel):
        raise Unkept("a function")
    return {"kernel": kind, "members": {name: encode(value) for name, value in vars(kernel).items()}}


def _decode_kernel(value):
    kind = getattr(kernels, value["kernel"], None) if value["kernel"] in kernels.__all__ else None
    if kind is None or issubclass(kind, kernels.Callable):
        raise ValueError(f"the model has a kernel {value['kernel']!r}, which this version does not know")
    kernel = kind.__new__(kind)
    kernel.__dict__.update({name: decode(own) for name, own in value["members"].items()})
    return kernel


def encode(value):
    """What JSON takes in the place of `value`; raises `Unkept` for what has no such form."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if type(value) is range:
        return {"range": [value.start, value.stop, value.step]}
    if type(value) is dict:
        return {"dict": [[encode(key), encode(own)] for key, own in value.items()]}
    if isinstance(value, np.generic):
        return {"scalar": _to_text(np.asarray(value))}
    if type(value) is np.ndarray:
        return _encode_array(value)
    if isinstance(value, kernels.Kernel):
        return _encode_kernel(value)
    if isinstance(value, Calibration):
        return {"slopes": encode(value.slopes)}
    if isinstance(value, PairCalibration):
        return {"pair slopes": encode(value.slopes), "pairs": encode(value.pairs), "classes": value.classes}
    raise Unkept(type(value).__name__)


_DECODERS = {
    "tuple": lambda value: tuple(decode(item) for item in value["tuple"]),
    "range": lambda value: range(*value["range"]),
    "dict": lambda value: {decode(key): decode(own) for key, own in value["dict"]},
    "scalar": lambda value: _from_text(value["scalar"])[()],
    "array": lambda value: _from_text(value["array"]),
    "arange": lambda value: np.arange(value["arange"]),
    "texts": _decode_texts,
    "kernel": _decode_kernel,
    "slopes": lambda value: Calibration.from_slopes(decode(value["slopes"])),
    "pair slopes": lambda value: PairCalibration.from_slopes(
        decode(value["pair slopes"]), decode(value["pairs"]), value["classes"]
    ),
}


def decode(value):
    """The inverse of `encode`."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        kind = next(iter(value), None)
        if kind not in _DECODERS:
            raise ValueError(f"the model holds a value of kind {kind!r}, which this version does not know")
        return _DECODERS[kind](value)
    return value


def write(values):
    """A dictionary as a text; what has no such form is left out."""
    kept = {}
    for name, value in values.items():
        try:
            kept[name] = encode(value)
        except Unkept:
            continue
    return json.dumps(kept)


def read(text):
    """The dictionary of `write`; empty where there is no text."""
    return {name: decode(value) for name, value in json.loads(text or "{}").items()}
