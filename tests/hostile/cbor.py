"""As much of CBOR (RFC 8949) as model files use: to change single values of a model and write it again."""
import struct


class Tagged(bytes):
    """A byte string with its tag."""
    tag = None


def decode(data):
    value, end = _decode(data, 0)
    assert end == len(data)
    return value


def _decode(data, at):
    kind, small = data[at] >> 5, data[at] & 31
    at += 1
    if kind == 7:
        sizes = {25: ">e", 26: ">f", 27: ">d"}
        if small in sizes:
            size = struct.calcsize(sizes[small])
            return struct.unpack(sizes[small], data[at:at + size])[0], at + size
        return {20: False, 21: True, 22: None}[small], at
    number = small
    if small >= 24:
        size = 1 << (small - 24)
        number, at = int.from_bytes(data[at:at + size], "big"), at + size
    if kind == 0:
        return number, at
    if kind == 1:
        return -1 - number, at
    if kind == 2:
        return bytes(data[at:at + number]), at + number
    if kind == 3:
        return data[at:at + number].decode(), at + number
    if kind == 6:
        value, at = _decode(data, at)
        tagged = Tagged(value)
        tagged.tag = number
        return tagged, at
    items = []
    for _ in range(number * (2 if kind == 5 else 1)):
        item, at = _decode(data, at)
        items.append(item)
    return (items if kind == 4 else dict(zip(items[::2], items[1::2]))), at


def _head(kind, number):
    if number < 24:
        return bytes([kind << 5 | number])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << (8 * size):
            return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
    raise ValueError(number)


def encode(value):
    if value is None or isinstance(value, bool):
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, Tagged):
        return _head(6, value.tag) + encode(bytes(value))
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(encode, value))
    return _head(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value.items())


def places(value, path=()):
    """The path of every value inside."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, path + (key,))


def changed(value, path, new):
    """A copy with another value at the path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy
