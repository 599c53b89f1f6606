"""Batches that are small, and large once they are decompressed."""

from __future__ import annotations

from odradek.wire.compression import Codec

from tests.hostile.attacks import attack
from tests.hostile.attacks.repeated import ask_and_read
from tests.hostile.support.setups import MEGABYTE, VICTIM, now_batch, partitions
from tests.hostile.support.target import Target
from tests.requests.produce import produce_all


def bombs(target: Target, count: int, codec: Codec) -> None:
    """One request with such a batch for each partition."""
    one = now_batch(bytes(40 * MEGABYTE), codec=codec)
    request = produce_all(*((VICTIM, number, one) for number in range(count)), acks=1)
    ask_and_read(target, request, 9)


@attack(test=3, full=100, setup=partitions)
def zstd_bombs(target: Target, count: int) -> None:
    """A few kilobytes of zstd for each partition."""
    bombs(target, count, Codec.ZSTD)


@attack(test=3, full=100, setup=partitions)
def gzip_bombs(target: Target, count: int) -> None:
    """Sixty kilobytes of gzip for each."""
    bombs(target, count, Codec.GZIP)


@attack(test=3, full=100, setup=partitions)
def lz4_bombs(target: Target, count: int) -> None:
    """A quarter of a megabyte of lz4 for each."""
    bombs(target, count, Codec.LZ4)


@attack(test=3, full=40, setup=partitions)
def snappy_bombs(target: Target, count: int) -> None:
    """Two megabytes of snappy for each: more than the topic takes, and no more than a request may
    have."""
    bombs(target, count, Codec.SNAPPY)
