"""The topics in a consumer's subscription, which a broker reads to protect and expire offsets.

    int16 version | int32 count | count times: int16 length, name | nullable bytes user data | ...

Version 0 is a prefix of every later version, so the rest is not looked at. Source: the consumer's
embedded protocol, ConsumerProtocolSubscription.
"""

from __future__ import annotations

from struct import error as StructError
from struct import unpack_from


def subscribed_topics(metadata: bytes) -> frozenset[str]:
    """The topic names. Raises ValueError when these bytes are no subscription."""
    try:
        _, count = unpack_from(">hi", metadata)
        if count < 0:
            raise ValueError("the list of topics is null")
        position = 6
        topics = []
        for _ in range(count):
            (length,) = unpack_from(">h", metadata, position)
            position += 2
            if not 0 <= length <= len(metadata) - position:
                raise ValueError(f"a topic name of {length} bytes does not fit")
            topics.append(metadata[position : position + length].decode())
            position += length
        (user_data,) = unpack_from(">i", metadata, position)
        if user_data > len(metadata) - position - 4:
            raise ValueError(f"user data of {user_data} bytes does not fit")
    except StructError as error:
        raise ValueError(str(error)) from None
    return frozenset(topics)
