"""From a decoded answer to a plain tree in which symbols stand for what may differ.

What may differ between two right brokers, and how it is replaced:

- ids that a broker draws (topic ids, the UUID in a member id, producer ids, session ids): numbered
  in the order in which they first appear, so that the same id must reappear in the same places;
- the broker's own address and cluster id; of a cluster, the port of each broker, and which of them
  a request to the controller would go to;
- names of the sequence's own topics and groups: they begin with "~" again;
- times within ten minutes of now, which are "<now>": all others were sent by the client;
- the checksum of a batch that holds times or a producer id that the broker gave;
- the order of lists that Kafka keeps in hash maps (allowed/order.py): they are sorted, or, where
  entries have names of their own, compared by name;
- topics and groups of other sequences, where all are listed: they are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from odradek.wire import NO_ID, Request, Response, id_text
from odradek.wire.api.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.end_txn import EndTxnResponse
from odradek.wire.api.fetch import FetchResponse
from odradek.wire.api.init_producer_id import InitProducerIdResponse
from odradek.wire.api.join_group import JoinGroupResponse
from odradek.wire.api.list_config_resources import ListConfigResourcesRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.share_fetch import ShareFetchResponse

from ..allowed.order import DOES_NOT_EXIST, KEYED, UNORDERED, Unordered
from ..ask.configs import BROKER, LOGGER
from ..ask.group_records import OFFSETS, STATES
from .batch_trees import batches_of
from .group_records import in_order, normalized, own_records
from .steps import OWN
from .trees import Id, Tree, plain

NEAR_MS = 600_000
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT_UUID = re.compile(r"[0-9A-Za-z_-]{22}")
_LONG_NUMBER = re.compile(r"\d{13,}")
_TIMES = frozenset(
    {
        "base_timestamp",
        "last_caught_up_timestamp",
        "last_fetch_timestamp",
        "last_timestamp",
        "log_append_time_ms",
        "max_timestamp",
        "timestamp",
        "transaction_start_time_ms",
    }
)
_LISTS_ALL: dict[type[Request], str] = {
    DescribeTopicPartitionsRequest: "topics",
    DescribeUserScramCredentialsRequest: "results",
    ElectLeadersRequest: "replica_election_results",
    ListConfigResourcesRequest: "config_resources",
    ListGroupsRequest: "groups",
    ListTransactionsRequest: "transaction_states",
    MetadataRequest: "topics",
}
"""Requests that may be about everything there is, and the list of it in the answer."""


class Normalizer:
    """Normalizes the answers of one broker in one sequence; knows the symbols given so far."""

    def __init__(
        self,
        namespace: str,
        now_ms: int,
        addresses: Sequence[tuple[str, int]],
        cluster: str,
        *,
        hashed: Mapping[type[Request], Mapping[str, Unordered]] | None = None,
    ) -> None:
        self._hashed = hashed or {}
        self._namespace = namespace
        self._now_ms = now_ms
        self._host = addresses[0][0]
        self._is_alone = len(addresses) == 1
        self._ports = {port: f"<port of {place}>" for place, (_, port) in enumerate(addresses, 1)}
        if self._is_alone:
            self._ports = {addresses[0][1]: "<port>"}
        self._cluster = cluster
        self._symbols: dict[tuple[str, Any], str] = {}

    def know_port(self, port: int) -> None:
        """Another listener of the broker."""
        self._ports[port] = "<port>"

    def tree(self, answer: Response, version: int, request: Request) -> Tree:
        """The answer as a tree, with symbols."""
        if isinstance(answer, InitProducerIdResponse | EndTxnResponse):
            self._symbol("pid", answer.producer_id)
        if isinstance(answer, JoinGroupResponse):
            # The member who is answered gets its symbol before the leader, who may differ.
            self._text(answer.member_id, "member_id", self._symbol)
        tree = plain(answer, version)
        if isinstance(answer, ShareFetchResponse):
            for topic in tree["responses"]:
                for each in topic["partitions"]:
                    each["records"] = batches_of(each["records"] or b"")
        if isinstance(answer, FetchResponse):
            tree["responses"] = [self._row(row) for row in _rows(tree["responses"])]
        self._leave_out_others(tree, request)
        self._sort(tree, request, ())
        return self._mapped(tree, "", self._symbol)

    def _row(self, row: Tree) -> Tree:
        """A fetched partition; of `__consumer_offsets`, only records of own groups."""
        data = row.pop("records", None)
        is_state = row.get("topic") == STATES
        if row.get("topic") != OFFSETS and not is_state:
            return row if data is None else {**row, "records": batches_of(data)}
        # The partition of a state follows from the topic's id, which each broker draws.
        names = ("topic", "error_code") if is_state else ("topic", "partition_index", "error_code")
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
            for header, key, value, version in own_records(
                data or b"", self._namespace, is_state=is_state
            )
        ]

        def order(tree: Tree) -> str:
            return repr(self._mapped(tree, "", self._known))

        soft = [normalized(each, self._now_ms, NEAR_MS, order) for each in rows]
        return {**{n: row[n] for n in names}, "written": in_order(soft, order)}

    # What is left out, and sorted

    def _leave_out_others(self, tree: Tree, request: Request) -> None:
        if isinstance(request, DescribeLogDirsRequest) and request.topics is None:
            for entry in tree["results"]:
                entry["topics"] = [e for e in entry["topics"] if self._is_own(e["name"])]
        name = _LISTS_ALL.get(type(request))
        if name is None or _names_its_own(request):
            return
        own = [
            entry
            for entry in tree[name]
            if self._is_own(_name_of(entry)) or entry.get("resource_type") in (BROKER, LOGGER)
        ]
        tree[name] = sorted(own, key=lambda entry: str(_name_of(entry)))

    def _is_own(self, name: str | None) -> bool:
        return name is None or name == "" or name.startswith(self._namespace)

    def _sort(self, tree: Tree, request: Request, path: tuple[str, ...]) -> None:
        if isinstance(tree, list):
            for value in tree:
                self._sort(value, request, path)
        if not isinstance(tree, dict):
            return
        for name, value in tree.items():
            place = ".".join((*path, name))
            self._sort(value, request, (*path, name))
            if not isinstance(value, list):
                continue
            unordered = UNORDERED.get(type(request), {}).get(place)
            unordered = self._hashed.get(type(request), {}).get(place, unordered)
            if unordered is not None and unordered.applies(request):
                self._sort_list(value, unordered)
            key = KEYED.get(type(request), {}).get(place)
            if key is not None:
                tree[name] = {str(entry.pop(key)): entry for entry in value}

    def _sort_list(self, entries: list[Tree], unordered: Unordered) -> None:
        """Sort; ids in entries that look the same get a symbol without a number."""
        keys = {id(entry): self._order(entry, unordered.keeps_good) for entry in entries}
        times = Counter(keys.values())
        entries.sort(key=lambda entry: keys[id(entry)])
        for index, entry in enumerate(entries):
            if keys[id(entry)] and times[keys[id(entry)]] > 1:
                entries[index] = self._mapped(entry, "", self._known)

    def _order(self, entry: Tree, keeps_good: bool) -> str:
        if keeps_good and entry["error_code"] not in DOES_NOT_EXIST:
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
        if name == "host" and text == self._host:
            return "<host>"
        if name == "cluster_id" and text == self._cluster:
            return "<cluster>"
        text = text.replace(self._namespace, OWN)
        if name == "error_message" and self._cluster:
            text = text.replace(f'"{self._cluster}"', '"<cluster>"')
        if name.endswith("message"):  # a time in a message is computed from the broker's own clock
            text = _LONG_NUMBER.sub("<number>", text)
            for (kind, value), known in self._symbols.items():
                text = text.replace(id_text(value), known) if kind == "id" else text
        if name in ("member_id", "leader") and _SHORT_UUID.fullmatch(text):
            return symbol("uuid", text)
        return _UUID.sub(lambda found: symbol("uuid", found[0]), text)

    def _number(self, number: int, name: str, symbol: Callable[[str, Any], str]) -> int | str:
        if name == "port" and number in self._ports:
            return self._ports[number]
        if name == "controller_id" and number > 0 and not self._is_alone:
            return "<any broker>"
        if name in _TIMES and abs(number - self._now_ms) < NEAR_MS:
            return "<now>"
        if name == "session_id" and number > 0:
            return symbol("session", number)
        if name == "producer_id":  # those that the client chose are left as they are
            return self._symbols.get(("pid", number), number)
        return number


def _names_its_own(request: Request) -> bool:
    """Whether a request says which topics it is about."""
    if isinstance(request, ElectLeadersRequest):
        return request.topic_partitions is not None
    return bool(getattr(request, "topics", None))


def _name_of(entry: Tree) -> str | None:
    """The name of the topic, user, group, ... that an entry is about."""
    kinds = ("name", "topic", "user", "group_id", "resource_name", "transactional_id")
    return next((entry[kind] for kind in kinds if entry.get(kind) is not None), None)


def _rows(topics: list[Tree]) -> list[Tree]:
    """The partitions of a fetch, each with its topic: how they are grouped has no meaning."""
    names = ("topic", "topic_id")
    return [
        {**{name: topic[name] for name in names if name in topic}, **partition}
        for topic in topics
        for partition in topic["partitions"]
    ]
