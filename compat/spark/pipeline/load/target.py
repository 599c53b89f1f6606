"""A data directory to be written into: which one, and which topic in it."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from .....emulator.metadata.topic_repair import known_configs
from .....storage.checkpoints import META_PROPERTIES, read_meta_properties
from .....storage.disk.directory import Directory
from .....storage.naming import KAFKA, renamed_suffix
from .....storage.naming_detection import naming_in
from ...segments.listing import PlaceError
from ..retention import retention_of


@dataclass(frozen=True)
class DirectoryTarget:
    """A data directory, and the topic that all records go to, or None."""

    path: str
    topic: str | None
    create: int | None
    """How many partitions a new topic gets."""

    def counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for name in os.listdir(self.path) if os.path.isdir(self.path) else []:
            parsed = KAFKA.parse_directory(name)
            if parsed is not None and renamed_suffix(name) is None:
                found[parsed[0]] = max(found.get(parsed[0], 0), parsed[1] + 1)
        return found

    def retentions(self) -> dict[str, int | None]:
        """For how long each topic keeps records (`retention_of`); where it does not say so itself,
        as brokers do by default."""
        home = Directory(self.path)
        node_id = read_meta_properties(home.read_bytes(META_PROPERTIES), META_PROPERTIES).node_id
        found = known_configs(home, naming_in(home), node_id)
        return {name: retention_of(configs) for name, configs in found.items()}


def directory_target(options: argparse.Namespace) -> DirectoryTarget:
    """The target that PLACE names: PATH of a data directory, or PATH/TOPIC. Raises PlaceError."""
    path = os.path.abspath(options.place)  # tasks may run elsewhere
    if os.path.exists(os.path.join(path, META_PROPERTIES)):
        return DirectoryTarget(path, None, options.create_topic)
    parent, name = os.path.split(path)
    is_new = not os.path.exists(path)
    if os.path.isfile(path):
        raise PlaceError(f"{options.place} is a file: what to write to comes last")
    if os.path.isfile(parent):
        raise PlaceError(f"{parent} is a file, and no data directory")
    if not is_new or not name or not os.path.isdir(os.path.dirname(os.path.abspath(parent))):
        raise PlaceError(
            f"{options.place}: neither HOST:PORT/TOPIC nor a data directory or PATH/TOPIC of one"
        )
    target = DirectoryTarget(parent, name, options.create_topic)
    there = os.path.isdir(target.path) and bool(os.listdir(target.path))
    if there and not os.path.exists(os.path.join(target.path, META_PROPERTIES)):
        # A new one beside other things, for what has the names of topics in its rows.
        return DirectoryTarget(path, None, options.create_topic)
    if name not in target.counts() and options.create_topic is None:
        raise PlaceError(
            f"{target.path} has no topic {name}: --create-topic PARTITIONS makes it "
            "(of a broker the place is HOST:PORT/TOPIC)"
        )
    return target
