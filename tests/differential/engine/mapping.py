"""From a decoded answer to a plain tree in which what may differ stands as a symbol.

What may differ between two right brokers, and how it is replaced:

- ids that a broker draws (topic ids, the UUID in a member id, producer ids, session ids): numbered
  in the order in which they first appear, so that the same id must reappear in the same places;
- the broker's own address and cluster id;
- names of the sequence's own topics and groups: they begin with "~" again;
- times within ten minutes of now, which are "<now>": all other times were sent by the client;
- the checksum of a batch that holds times or a producer id that the broker gave;
- the order of lists that Kafka keeps in hash maps (UNORDERED in allowed/allowed.py): they are
  sorted, or, where entries have names of their own (KEYED), compared by name;
- topics and groups of other sequences, where all are listed: they are left out.

Records are shown as batches with their header's fields and their bytes; compressed ones decoded,
for two libraries may compress the same text differently: their lengths and checksums stand apart,
under "compressed", and may differ where a topic recompresses (allowed/allowed.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from odradek.wire import NO_ID, Request, Response, Struct, WireError
from odradek.wire.batch import CODEC_MASK, HEADER_SIZE, BatchHeader, read_header
from odradek.wire.records import read_records
from odradek.wire.schema import Type

from ..allowed.allowed import KEYED, UNKNOWN, UNORDERED, Unordered
from ..allowed.cluster import lists_every_topic
from ..ask.old_sets import is_old, trees_of
from .group_log import OFFSETS, in_order, own_records, softened
from .steps import OWN

Tree: TypeAlias = Any
"""dict, list, or a leaf."""

NEAR_MS = 600_000
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT_UUID = re.compile(r"[0-9A-Za-z_-]{22}")
_LONG_NUMBER = re.compile(r"\d{13,}")
_TIMES = frozenset({"timestamp", "log_append_time_ms", "max_timestamp", "base_timestamp"})
_TIMES |= {"transaction_start_time_ms", "last_timestamp"}
_TIMES |= {"last_fetch_timestamp", "last_caught_up_timestamp"}
_FETCH, _JOIN, _INIT_PRODUCER_ID, _END_TXN = 1, 11, 22, 26
_LISTS_ALL = {
    3: "topics",
    16: "groups",
    43: "replica_election_results",
    50: "results",
    66: "transaction_states",
    74: "config_resources",
    75: "topics",
}
_BROKERS = (4, 8)
_LOG_DIRS = 35


class Id(bytes):
    """A UUID, so that it can be told from other bytes."""


class Mapper:
    """The symbols of one broker in one sequence."""

    def __init__(self, namespace: str, now_ms: int, address: tuple[str, int], cluster: str) -> None:
        self._namespace = namespace
        self._now_ms = now_ms
        self._address = address
        self._cluster = cluster
        self._symbols: dict[tuple[str, Any], str] = {}

    def tree(self, answer: Response, version: int, request: Request) -> Tree:
        """The answer with symbols."""
        if answer.api_key in (_INIT_PRODUCER_ID, _END_TXN):
            self._symbol("pid", getattr(answer, "producer_id", -1))
        if answer.api_key == _JOIN:  # whose answer it is goes before who leads: that may differ
            self._text(getattr(answer, "member_id", ""), "member_id", self._symbol)
        tree = plain(answer, version)
        if answer.api_key == _FETCH:
            tree["responses"] = [self._row(row) for row in _rows(tree["responses"])]
        self._leave_out_others(tree, request)
        self._sort(tree, request, ())
        return self._mapped(tree, "", self._symbol)

    def _row(self, row: Tree) -> Tree:
        """A fetched partition; of that which keeps groups, what is written of the own ones."""
        data = row.pop("records", None)
        if row.get("topic") != OFFSETS:
            return row if data is None else {**row, "records": batches_of(data)}
        names = ("topic", "partition_index", "error_code")
        rows = [
            {
                "key": {"type": type(key).__name__, **plain(key, 0)},
                "value": None if value is None else plain(value, version),
                "value_version": version,
                "base_sequence": header.base_sequence,
                "producer_epoch": header.producer_epoch,
                "producer_id": header.producer_id,
                "is_transactional": header.is_transactional,
            }
            for header, key, value, version in own_records(data or b"", self._namespace)
        ]

        def order(tree: Tree) -> str:
            return repr(self._mapped(tree, "", self._known))

        soft = [softened(each, self._now_ms, NEAR_MS, order) for each in rows]
        return {**{n: row[n] for n in names}, "written": in_order(soft, order)}

    # What is left out, and sorted

    def _leave_out_others(self, tree: Tree, request: Request) -> None:
        name = _LISTS_ALL.get(request.api_key)
        if request.api_key == _LOG_DIRS and lists_every_topic(request):
            for entry in tree["results"]:
                entry["topics"] = [e for e in entry["topics"] if self._is_own(e["name"])]
        if name == "replica_election_results" and not lists_every_topic(request):
            return
        if name is not None and not getattr(request, "topics", None):
            own = [
                e
                for e in tree[name]
                if self._is_own(_name_of(e)) or e.get("resource_type") in _BROKERS
            ]
            tree[name] = sorted(own, key=lambda e: str(_name_of(e)))

    def _is_own(self, name: str | None) -> bool:
        return name is None or name == "" or name.startswith(self._namespace)

    def _sort(self, tree: Tree, request: Request, path: tuple[str, ...]) -> None:
        if isinstance(tree, list):
            for value in tree:
                self._sort(value, request, path)
        if not isinstance(tree, dict):
            return
        for name, value in tree.items():
            place = (request.api_key, ".".join((*path, name)))
            self._sort(value, request, (*path, name))
            unordered = UNORDERED.get(place)
            if unordered is not None and isinstance(value, list) and unordered.applies(request):
                self._sort_list(value, unordered)
            if place in KEYED and isinstance(value, list):
                tree[name] = {str(entry.pop(KEYED[place])): entry for entry in value}

    def _sort_list(self, entries: list[Tree], unordered: Unordered) -> None:
        """Sort; ids in entries that cannot be told apart stay without a number of their own."""
        keys = {id(entry): self._order(entry, unordered.keeps_good) for entry in entries}
        times = Counter(keys.values())
        entries.sort(key=lambda entry: keys[id(entry)])
        for index, entry in enumerate(entries):
            if keys[id(entry)] and times[keys[id(entry)]] > 1:
                entries[index] = self._mapped(entry, "", self._known)

    def _order(self, entry: Tree, keeps_good: bool) -> str:
        if keeps_good and entry["error_code"] not in UNKNOWN:
            return ""
        return repr(self._mapped(entry, "", self._known))

    # Symbols

    def _symbol(self, kind: str, value: Any) -> str:
        count = sum(known == kind for known, _ in self._symbols) + 1
        return self._symbols.setdefault((kind, value), f"<{kind} {count}>")

    def _known(self, kind: str, value: Any) -> str:
        return self._symbols.get((kind, value), f"<{kind}>")

    def _mapped(self, tree: Tree, name: str, symbol: Callable[[str, Any], str]) -> Tree:
        if isinstance(tree, dict):
            mapped = {key: self._mapped(value, key, symbol) for key, value in tree.items()}
            if "crc" in mapped and isinstance(mapped["producer_id"], str):
                mapped["crc"] = "<of an id given by the broker>"
            return mapped
        if isinstance(tree, list):
            return [self._mapped(value, name, symbol) for value in tree]
        if isinstance(tree, Id):
            return symbol("id", tree) if tree != NO_ID else "<no id>"
        if isinstance(tree, str):
            return self._text(tree, name, symbol)
        if isinstance(tree, int) and not isinstance(tree, bool):
            return self._number(tree, name, symbol)
        return tree

    def _text(self, text: str, name: str, symbol: Callable[[str, Any], str]) -> str:
        if name == "host" and text == self._address[0]:
            return "<host>"
        if name == "cluster_id" and text == self._cluster:
            return "<cluster>"
        text = text.replace(self._namespace, OWN)
        if name == "error_message" and self._cluster:
            text = text.replace(f'"{self._cluster}"', '"<cluster>"')
        if name.endswith("message"):  # the times of which a broker speaks are reckoned from its own
            text = _LONG_NUMBER.sub("<number>", text)
        if name in ("member_id", "leader") and _SHORT_UUID.fullmatch(text):
            return symbol("uuid", text)
        return _UUID.sub(lambda found: symbol("uuid", found[0]), text)

    def _number(self, number: int, name: str, symbol: Callable[[str, Any], str]) -> int | str:
        if name == "port" and number == self._address[1]:
            return "<port>"
        if name in _TIMES and abs(number - self._now_ms) < NEAR_MS:
            return "<now>"
        if name == "session_id" and number > 0:
            return symbol("session", number)
        if name == "producer_id":  # others are made up by the client
            return self._symbols.get(("pid", number), number)
        return number


def _name_of(entry: Tree) -> str | None:
    """What an entry of a list is about."""
    kinds = ("name", "topic", "user", "group_id", "resource_name", "transactional_id")
    return next((entry[kind] for kind in kinds if entry.get(kind) is not None), None)


def _rows(topics: list[Tree]) -> list[Tree]:
    """The partitions of a fetch, each with its topic: how they are grouped says nothing."""
    names = ("topic", "topic_id")
    return [
        {**{name: topic[name] for name in names if name in topic}, **partition}
        for topic in topics
        for partition in topic["partitions"]
    ]


def plain(message: Struct, version: int) -> dict[str, Tree]:
    """The fields that a message has in a version, as dicts, lists and leaves."""
    return {
        field.name: _value(getattr(message, field.name), type_, version)
        for field, type_ in type(message).fields()
        if field.is_in(version)
    }


def _value(value: Any, type_: Type, version: int) -> Tree:
    if value is None:
        return None
    if type_.is_list:
        return [_value(each, type_._replace(is_list=False), version) for each in value]
    if type_.struct is not None:
        return plain(value, version)
    assert type_.kind is not None
    if type_.kind.name == "uuid":
        return Id(value)
    return bytes(value) if type_.kind.name in ("bytes", "records") else value


def batches_of(data: bytes) -> list[Tree]:
    """The batches in what was fetched; what is cut at the end stands last, as bytes."""
    if is_old(data):
        return trees_of(data)
    trees: list[Tree] = []
    pos = 0
    while pos < len(data):
        try:
            header = read_header(data, pos)
        except WireError:
            break
        if header.magic != 2 or not HEADER_SIZE <= header.size <= len(data) - pos:
            break
        trees.append(_batch(data[pos : pos + header.size], header))
        pos += header.size
    if pos < len(data):
        trees.append({"cut": len(data) - pos})
    return trees


def _batch(data: bytes, header: BatchHeader) -> dict[str, Tree]:
    tree: dict[str, Tree] = header._asdict()
    if header.is_log_append_time or header.is_control:
        tree["crc"] = "<of a time set by the broker>"
    if header.attributes & CODEC_MASK:
        try:
            records = [record._asdict() for record in read_records(data)]
        except WireError as error:
            tree["undecodable"] = str(error)
        else:
            tree["compressed"] = {name: tree.pop(name) for name in ("batch_length", "crc")}
            tree["compressed"]["producer_id"] = header.producer_id
            tree["records"] = records
            return tree
    tree["payload"] = data[HEADER_SIZE:]
    return tree
