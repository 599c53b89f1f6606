"""State: what the records of `_schemas` say, replayed one after the other.

It is made from the topic alone, at a start and afterwards: a writer sees its own record come back.
A record that is none is passed over, and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from . import records
from .records import Version
from .subjects import DEFAULT, subject_of


class State:
    """Subjects and their versions, configs, modes, contexts, ids."""

    def __init__(self) -> None:
        self.subjects: dict[str, dict[int, Version]] = {}
        self.configs: dict[str, dict[str, Any]] = {}
        """By subject; that of all has the name ''."""
        self.modes: dict[str, str] = {}
        self.contexts: set[str] = set()
        self.ignored = 0
        """Records that were none of a registry's."""
        self.removed = 0
        """Versions that were deleted for good."""
        self._by_id: dict[tuple[str, int], dict[tuple[str, int], Version]] = {}
        self._ids: dict[tuple[str, tuple[str, str, str]], int] = {}
        self._highest: dict[str, int] = {}
        self._by_guid: dict[str, tuple[str, int]] = {}

    def replay(self, key: bytes | None, value: bytes | None, ts: int) -> None:
        try:
            named = json.loads(key or b"")
            said = None if value is None else json.loads(value)
            self._apply(named["keytype"], named, said, ts)
        except (ValueError, KeyError, TypeError, AttributeError):
            self.ignored += 1

    def versions(self, subject: str, *, deleted: bool = False) -> list[Version]:
        """In order; those that were deleted softly, too, if that is asked."""
        found = self.subjects.get(subject, {})
        return [found[each] for each in sorted(found) if deleted or not found[each].deleted]

    def by_id(self, context: str, schema_id: int) -> list[Version]:
        """All versions that have this id, deleted ones too, in the order of their records."""
        return list(self._by_id.get((context, schema_id), {}).values())

    def id_of(self, context: str, content: tuple[str, str, str]) -> int | None:
        return self._ids.get((context, content))

    def by_guid(self, guid: str) -> list[Version]:
        where = self._by_guid.get(guid)
        return [] if where is None else self.by_id(*where)

    def next_id(self, context: str) -> int:
        """One that no schema of this context has had."""
        return self._highest.get(context, 0) + 1

    def highest_id(self, context: str) -> int:
        """The highest that a schema of this context has had."""
        return self._highest.get(context, 0)

    def all(self) -> Iterator[Version]:
        """Each version of each subject, by name."""
        for subject in sorted(self.subjects):
            yield from self.versions(subject, deleted=True)

    def referring(self, subject: str, version: int, *, deleted: bool) -> list[Version]:
        from .subjects import beside

        return [
            each
            for each in self.all()
            if (deleted or not each.deleted)
            and any(
                beside(each.subject, ref["subject"]) == subject and ref["version"] == version
                for ref in each.references
            )
        ]

    def _apply(self, kind: str, key: dict[str, Any], value: Any, ts: int) -> None:
        if kind == records.SCHEMA:
            self._schema(str(key["subject"]), int(key["version"]), value, ts)
        elif kind == records.DELETE_SUBJECT and value is not None:
            for each in self.subjects.get(value["subject"], {}).values():
                if each.version <= int(value["version"]):
                    each.deleted = True
                    each.ts = ts
        elif kind == records.CONFIG:
            _put(self.configs, key.get("subject") or "", value)
        elif kind == records.MODE:
            mode = None if value is None else str(value["mode"])
            _put(self.modes, key.get("subject") or "", mode)
        elif kind == records.CONTEXT:
            (self.contexts.discard if value is None else self.contexts.add)(str(key["context"]))
        elif kind not in (records.NOOP, records.DELETE_SUBJECT):
            self.ignored += 1

    def _schema(self, subject: str, version: int, value: Any, ts: int) -> None:
        context = subject_of(subject).context
        made = None if value is None else records.version_of(value, ts)
        old = self.subjects.get(subject, {}).pop(version, None)
        if old is not None:
            self._forget(context, old, to_return=made is not None)
        if made is None:
            if not self.subjects.get(subject, True):
                del self.subjects[subject]
            return
        if context != DEFAULT:
            self.contexts.add(context)
        self.subjects.setdefault(subject, {})[version] = made
        self._by_id.setdefault((context, made.id), {})[subject, version] = made
        self._ids.setdefault((context, made.content), made.id)
        self._by_guid.setdefault(made.guid, (context, made.id))
        self._highest[context] = max(self._highest.get(context, 0), made.id)

    def _forget(self, context: str, old: Version, *, to_return: bool) -> None:
        same_id = self._by_id[context, old.id]
        if to_return:  # its place in the order stays
            return
        self.removed += 1
        del same_id[old.subject, old.version]
        if not same_id:
            del self._by_id[context, old.id]
            if self._ids.get((context, old.content)) == old.id:
                del self._ids[context, old.content]
            self._by_guid.pop(old.guid, None)


def _put(where: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        where.pop(name, None)
    else:
        where[name] = value
