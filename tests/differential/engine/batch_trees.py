"""Fetched bytes as trees: record batches, and message sets of magic 0 and 1.

A batch shows the fields of its header and its payload, an entry of a message set the fields of its
head. Two libraries may compress the same records to different bytes: what is compressed is shown
decompressed, and the sizes and checksums that depend on the library stand under "compressed", for
the allowances to judge. After a compressed message even the end of an answer depends on them: it is
shown as the number of bytes left.
"""

from __future__ import annotations

from typing import Any

from odradek.wire import WireError
from odradek.wire.batch import CODEC_MASK, HEADER_SIZE, LOG_APPEND_TIME, BatchHeader, read_header
from odradek.wire.legacy.message_sets import Entry, entries, read_entry, read_head
from odradek.wire.records import read_records

from .trees import Tree

_TO_ATTRIBUTES = 18
"""An entry's bytes up to its attributes, which say whether it is compressed."""
_FILLING = b"\xff" * 8


def batches_of(data: bytes) -> list[Tree]:
    """The batches, or messages, in what was fetched; an incomplete one at the end stands last."""
    return _messages(data) if _is_message_set(data) else _batches(data)


def _batches(data: bytes) -> list[Tree]:
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


def _is_message_set(data: bytes) -> bool:
    """Whether an answer begins with an entry of magic 0 or 1, or with filling."""
    return data.startswith(_FILLING) or (len(data) > 16 and data[16] < 2)


def _messages(data: bytes) -> list[Tree]:
    """A tree for each whole entry, and one for what is left."""
    trees: list[Tree] = []
    pos = 0
    try:
        for entry in entries(data):
            trees.append(_entry(data, entry))
            pos = entry.pos + entry.size
    except WireError as error:
        trees.append({"not an entry": str(error)})
    if pos < len(data):
        attributes = data[pos + _TO_ATTRIBUTES - 1] if pos + _TO_ATTRIBUTES <= len(data) else 0
        if any("compressed" in tree for tree in trees) or attributes & CODEC_MASK:
            trees.append({"compressed": {"left": len(data) - pos}})
        elif attributes & LOG_APPEND_TIME:
            trees.append({"left, with a time of the broker's": len(data) - pos})
        else:
            trees.append({"left": data[pos:]})
    return trees


def _entry(data: bytes, entry: Entry) -> dict[str, Any]:
    if entry.magic > 1:
        return {"magic": entry.magic, "bytes": data[entry.pos : entry.pos + entry.size]}
    head = read_head(data, entry)
    tree: dict[str, Any] = head._asdict()
    crc = tree.pop("crc")
    tree["messages"] = [message._asdict() for message in read_entry(data, entry)]
    if not head.codec:
        tree["checksum"] = "<of a time set by the broker>" if head.is_log_append_time else crc
        return tree
    tree["compressed"] = {"checksum": crc, "size": entry.size}
    return tree
