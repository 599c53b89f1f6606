"""XXH3, the 64-bit hash with seed 0, of short and long inputs.

A broker stores such a hash of the topics that a consumer group reads (topics_view.py). Source: the
xxHash specification. Not optimised: it hashes a few hundred bytes a topic, when topics change.
"""

from __future__ import annotations

from struct import unpack_from

_MASK = (1 << 64) - 1
_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64_1, _P64_2 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F
_P64_3, _P64_4, _P64_5 = 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_MIX_1, _MIX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_STRIPE, _LANES, _SECRET_STEP = 64, 8, 8


def xxh3_64(data: bytes) -> int:
    """The hash, as an unsigned number."""
    length = len(data)
    if length == 0:
        return _avalanche_64(_u64(_SECRET, 56) ^ _u64(_SECRET, 64))
    if length <= 3:
        return _up_to_3(data)
    if length <= 8:
        return _up_to_8(data)
    if length <= 16:
        return _up_to_16(data)
    if length <= 128:
        return _up_to_128(data)
    return _up_to_240(data) if length <= 240 else _long(data)


def _u32(data: bytes, pos: int) -> int:
    return int.from_bytes(data[pos : pos + 4], "little")


def _u64(data: bytes, pos: int) -> int:
    return int.from_bytes(data[pos : pos + 8], "little")


def _folded(left: int, right: int) -> int:
    product = left * right
    return (product ^ product >> 64) & _MASK


def _avalanche(value: int) -> int:
    value ^= value >> 37
    value = value * _MIX_1 & _MASK
    return value ^ value >> 32


def _avalanche_64(value: int) -> int:
    value ^= value >> 33
    value = value * _P64_2 & _MASK
    value ^= value >> 29
    value = value * _P64_3 & _MASK
    return value ^ value >> 32


def _up_to_3(data: bytes) -> int:
    length = len(data)
    combined = data[0] << 16 | data[length >> 1] << 24 | data[-1] | length << 8
    return _avalanche_64(combined ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4))


def _up_to_8(data: bytes) -> int:
    length = len(data)
    value = _u32(data, length - 4) + (_u32(data, 0) << 32) & _MASK
    value ^= _u64(_SECRET, 8) ^ _u64(_SECRET, 16)
    value ^= (value << 49 | value >> 15) & _MASK ^ (value << 24 | value >> 40) & _MASK
    value = value * _MIX_2 & _MASK
    value ^= (value >> 35) + length & _MASK
    value = value * _MIX_2 & _MASK
    return value ^ value >> 28


def _up_to_16(data: bytes) -> int:
    length = len(data)
    low = _u64(data, 0) ^ _u64(_SECRET, 24) ^ _u64(_SECRET, 32)
    high = _u64(data, length - 8) ^ _u64(_SECRET, 40) ^ _u64(_SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return _avalanche(length + swapped + high + _folded(low, high) & _MASK)


def _mixed(data: bytes, pos: int, secret: int) -> int:
    return _folded(
        _u64(data, pos) ^ _u64(_SECRET, secret), _u64(data, pos + 8) ^ _u64(_SECRET, secret + 8)
    )


def _up_to_128(data: bytes) -> int:
    length = len(data)
    value = length * _P64_1 & _MASK
    for index in reversed(range((length - 1) // 32 + 1)):
        value += _mixed(data, 16 * index, 32 * index)
        value += _mixed(data, length - 16 * (index + 1), 32 * index + 16)
    return _avalanche(value & _MASK)


def _up_to_240(data: bytes) -> int:
    length = len(data)
    value = length * _P64_1 & _MASK
    for index in range(8):
        value += _mixed(data, 16 * index, 16 * index)
    value = _avalanche(value & _MASK)
    for index in range(8, length // 16):
        value += _mixed(data, 16 * index, 16 * (index - 8) + 3)
    value += _mixed(data, length - 16, 136 - 17)
    return _avalanche(value & _MASK)


def _long(data: bytes) -> int:
    lanes = [_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1]
    stripes = (len(_SECRET) - _STRIPE) // _SECRET_STEP
    last = (len(data) - 1) // _STRIPE
    for index in range(last):
        _accumulate(lanes, data, _STRIPE * index, _SECRET_STEP * (index % stripes))
        if index % stripes == stripes - 1:
            _scramble(lanes)
    _accumulate(lanes, data, len(data) - _STRIPE, len(_SECRET) - _STRIPE - 7)
    value = len(data) * _P64_1
    for index in range(0, _LANES, 2):
        secret = 11 + 8 * index
        value += _folded(
            lanes[index] ^ _u64(_SECRET, secret), lanes[index + 1] ^ _u64(_SECRET, secret + 8)
        )
    return _avalanche(value & _MASK)


def _accumulate(lanes: list[int], data: bytes, pos: int, secret: int) -> None:
    values = unpack_from("<8Q", data, pos)
    for index, value in enumerate(values):
        key = value ^ _u64(_SECRET, secret + 8 * index)
        lanes[index ^ 1] = lanes[index ^ 1] + value & _MASK
        lanes[index] = lanes[index] + (key & 0xFFFFFFFF) * (key >> 32) & _MASK


def _scramble(lanes: list[int]) -> None:
    for index in range(_LANES):
        value = lanes[index]
        value ^= value >> 47
        value ^= _u64(_SECRET, len(_SECRET) - _STRIPE + 8 * index)
        lanes[index] = value * _P32_1 & _MASK
