"""Keys and values by a schema registry (compat/schemas), as lines have them: JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...schemas.reading import Reader, encoder, is_text
from ...schemas.registry import NoSuchSchema, Schema, SchemaError, kind_of
from ...schemas.remote import RemoteRegistry
from .client import ConsoleError
from .decoding import Decoder

Encoder = Callable[[bytes], bytes]
"""From JSON text to what is stored. Raises ValueError."""


def registry_decoder(url: str) -> Decoder:
    """Decodes what was written with a schema; other bytes raise ValueError."""
    from ...schemas.reading import plain

    with _refusals():
        read = Reader(RemoteRegistry(url))

    def decode(data: bytes) -> Any:
        with _refusals():
            return plain(read(data))

    return decode


def registry_encoder(url: str, subject: str, file: Path | None, message: str | None) -> Encoder:
    """Encodes by the schema in a file, which is registered, or by the newest of the subject. Raises
    ConsoleError."""
    with _refusals():
        registry = RemoteRegistry(url)
        schema = _newest(registry, subject) if file is None else _of(registry, subject, file)
        encode = encoder(registry, schema, message)
        takes_text = is_text(schema)

    def encode_line(data: bytes) -> bytes:
        return encode(data.decode() if takes_text else json.loads(data))

    return encode_line


def _newest(registry: RemoteRegistry, subject: str) -> Schema:
    try:
        return registry.latest(subject)
    except NoSuchSchema:
        raise ConsoleError(
            f"{registry.url} has no subject {subject}: name a --schema FILE or a --subject"
        ) from None


def _of(registry: RemoteRegistry, subject: str, file: Path) -> Schema:
    try:
        return registry.register(subject, kind_of(file), file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ConsoleError(f"{file} cannot be read: {error}") from None
    except ValueError as error:
        raise ConsoleError(str(error)) from None


@contextmanager
def _refusals() -> Iterator[None]:
    """Raises ConsoleError for what a registry refuses."""
    try:
        yield
    except SchemaError as error:
        raise ConsoleError(str(error)) from None
