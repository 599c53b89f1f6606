"""A registry's schemas, read from its topic `_schemas` without a registry that serves them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from ..schemas.reading import Reader
from ..schemas.registry import NoSuchSchema, Reference, Schema, SchemaError
from ..wire_client.source import Source
from . import records
from .errors import Refused
from .registry import Registry
from .store import State
from .subjects import DEFAULT, beside
from .topic import SchemasTopic

T = TypeVar("T")


class Run(Protocol):
    """Carries out what one thread at a time may do, and returns what it returns."""

    def __call__(self, act: Callable[[], T], /) -> T: ...


class SchemasInside:
    """The schemas in `_schemas` of a Kafka, as they are at each call: a `SchemaSource`."""

    def __init__(
        self,
        kafka: Source,
        run: Run,
        incarnation: Callable[[], object] = lambda: None,
        patience: float = 0.0,
    ) -> None:
        """`run` has one thread at a time read the topic; `patience`: for so many seconds, a leader
        is waited for."""
        self._topic = SchemasTopic(kafka, incarnation=incarnation, patience=patience)
        self._registry = Registry(self._topic)
        self._run = run
        self._reader = Reader(self)
        self._read_from: tuple[State, int] | None = None

    def reader(self) -> Reader:
        """The reader of values, also by schemas that come later; another one, once schemas that
        were read by are gone. Raises SchemaError."""
        state = self._asked(self._topic.state)
        if self._read_from is None or self._read_from != (state, state.removed):
            self._reader = Reader(self)
            self._read_from = state, state.removed
        return self._reader

    def by_id(self, schema_id: int) -> Schema:
        """Of the default context, or if it has none of that id, of another."""

        def found(state: State) -> list[records.Version]:
            for context in (DEFAULT, *sorted(state.contexts)):
                if there := state.by_id(context, schema_id):
                    return there
            return []

        return _schema(self._found(found, f"the registry has no schema {schema_id}"))

    def latest(self, subject: str) -> Schema:
        text = f"the registry has no subject {subject!r}"
        return _schema(self._found(lambda state: state.versions(subject)[-1:], text))

    def referred(self, reference: Reference) -> Schema:
        """The schema that a reference means, deleted or not."""
        number = reference.version

        def found(state: State) -> list[records.Version]:
            there = state.versions(reference.subject, deleted=number != -1)
            return [each for each in there if number in (-1, each.version)][-1:]

        text = f"the registry has no version {number} of {reference.subject!r}"
        return _schema(self._found(found, text))

    def descriptor(self, schema_id: int) -> bytes:
        """Of a Protobuf schema, its FileDescriptorProto."""
        text = f"the registry has no schema {schema_id}"
        version = self._found(lambda state: state.by_id(DEFAULT, schema_id), text)
        made = self._asked(partial(self._registry.parsed, version))
        return b64decode(made.formatted("serialized"))

    def _found(self, look: Callable[[State], list[records.Version]], text: str) -> records.Version:
        """The first that is found. Raises NoSuchSchema with this text."""
        found = self._asked(lambda: look(self._topic.state()))
        if not found:
            raise NoSuchSchema(text)
        return found[0]

    def _asked(self, act: Callable[[], T]) -> T:
        try:
            return self._run(act)
        except Refused as refused:
            raise SchemaError(refused.message) from None


def _schema(version: records.Version) -> Schema:
    references = tuple(_reference(version.subject, each) for each in version.references)
    return Schema(version.id, version.kind, version.text, references)


def _reference(subject: str, body: dict[str, Any]) -> Reference:
    return Reference(body["name"], beside(subject, body["subject"]), body["version"])
