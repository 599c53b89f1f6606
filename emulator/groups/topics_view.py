"""The coordinator's view of topics: their ids and sizes, and when there are new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from struct import Struct
from typing import NamedTuple, Protocol

from ..base.java_order import hash_map_order
from .regex.lookup import Lookups
from .xxh3 import xxh3_64

_MAGIC = b"\0"
_LONG, _INT = Struct("<q"), Struct("<i")


class TopicLike(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def id(self) -> bytes: ...

    @property
    def partitions(self) -> Sized: ...


class Catalogue(Protocol):
    """All topics. `generation` rises whenever one is created, changed or deleted."""

    @property
    def generation(self) -> int: ...

    def get(self, name: str, /) -> TopicLike | None: ...

    def by_id(self, topic_id: bytes, /) -> TopicLike | None: ...

    def __iter__(self) -> Iterator[TopicLike]: ...


class NoTopics:
    generation = 0

    def get(self, name: str, /) -> TopicLike | None:
        return None

    def by_id(self, topic_id: bytes, /) -> TopicLike | None:
        return None

    def __iter__(self) -> Iterator[TopicLike]:
        return iter(())


class TopicsView:
    """A catalogue, and the version of the cluster's metadata: a number that grows with each change
    and is kept over a restart (an offset of the metadata log). `lookups`: of expressions, in these
    topics."""

    def __init__(self, catalogue: Catalogue, version: Callable[[], int]) -> None:
        self.catalogue = catalogue
        self.lookups = Lookups()
        self._version = version
        self._ids: frozenset[bytes] = frozenset()
        self._seen_generation: int | None = None
        self._version_with_new_topics = 0

    @property
    def generation(self) -> int:
        """Rises whenever a topic is created, changed or deleted."""
        return self.catalogue.generation

    @property
    def version(self) -> int:
        self._look_for_new()
        return self._version()

    @property
    def version_with_new_topics(self) -> int:
        """The version in which new topics were last seen."""
        self._look_for_new()
        return self._version_with_new_topics

    def ids(self, names: Iterable[str]) -> frozenset[bytes]:
        found = (self.catalogue.get(name) for name in names)
        return frozenset(topic.id for topic in found if topic is not None)

    def count(self, topic_id: bytes) -> int:
        """How many partitions the topic of this id has; 0 if there is no such topic."""
        topic = self.catalogue.by_id(topic_id)
        return 0 if topic is None else len(topic.partitions)

    def names(self) -> list[str]:
        return [topic.name for topic in self.catalogue]

    def known(self, names: Iterable[str]) -> list[StoredTopic]:
        """Those of these topics that there are, in the order of a Java HashMap."""
        found = (self.catalogue.get(name) for name in hash_map_order(names))
        return [
            StoredTopic(topic.id, topic.name, range(len(topic.partitions)))
            for topic in found
            if topic is not None
        ]

    def hash_of(self, names: Iterable[str]) -> int:
        """A hash of ids and sizes of these topics, as a broker stores it to detect a change; 0 if
        none of them exists. Racks of partitions are left out."""
        hashes = self.hashes_of(names)
        packed = [_LONG.pack(_signed(hashes[name])) for name in sorted(hashes, key=_utf16)]
        return _signed(xxh3_64(b"".join(packed))) if packed else 0

    def hashes_of(self, names: Iterable[str]) -> dict[str, int]:
        """A hash of id and size of each of these topics that exists."""
        found = (self.catalogue.get(name) for name in names)
        return {topic.name: _hash(topic) for topic in found if topic is not None}

    def _look_for_new(self) -> None:
        if self._seen_generation == self.catalogue.generation:
            return
        self._seen_generation = self.catalogue.generation
        ids = frozenset(topic.id for topic in self.catalogue)
        if ids - self._ids:
            self._version_with_new_topics = self._version()
        self._ids = ids


class StoredTopic(NamedTuple):
    """A topic as a record has it."""

    id: bytes
    name: str
    partitions: Sequence[int]
    """Their numbers."""


def hash_of_stored(topics: Iterable[StoredTopic]) -> int:
    """What `TopicsView.hash_of` is of topics that are as these."""
    hashes = {topic.name: _hash(topic) for topic in topics}
    packed = [_LONG.pack(_signed(hashes[name])) for name in sorted(hashes, key=_utf16)]
    return _signed(xxh3_64(b"".join(packed))) if packed else 0


def _hash(topic: TopicLike | StoredTopic) -> int:
    """magic int8 | id 2 * int64 | name in UTF-16, its length int32 | count int32 | each int32"""
    count = len(topic.partitions)
    name = topic.name.encode("utf-16-le", "surrogatepass")
    parts = [_MAGIC, topic.id[7::-1], topic.id[:7:-1], name, _INT.pack(len(name) // 2)]
    parts += [_INT.pack(number) for number in (count, *range(count))]
    return xxh3_64(b"".join(parts))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
