"""JSON Schema: drafts 4 to 2020-12, checked against their own schemas by the package jsonschema.

Nothing is fetched: what a schema refers to is in it, or one of its references by name. Source: the
drafts; for the comparison, in json_compatibility.py, what Confluent's registry answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schemas.registry import JSON
from ..limits import read_json
from . import BadSchema, Exact, Incompatibility, written


class JsonSchema:
    kind = JSON

    def __init__(self, root: Any, named: Mapping[str, Any]) -> None:
        self.root = root
        self.named = named
        self.text = written(root)

    def normalized(self) -> str:
        """With keys in order."""
        return written(_in_order(self.root))

    def formatted(self, how: str) -> str:
        """As it is."""
        return self.text

    def cannot_read(self, writer: JsonSchema) -> list[Incompatibility]:
        """See Schema."""
        from .json_compatibility import compared

        return compared(self, writer)


def parse(text: str, named: Mapping[str, str], *, strict: bool = False) -> JsonSchema:
    """Raises BadSchema, TooLarge."""
    root = _read(text)
    _check(root)
    return JsonSchema(root, {name: _read(each) for name, each in named.items()})


def _read(text: str) -> Any:
    try:
        root = read_json(text, Exact)
    except ValueError as error:
        raise BadSchema(f"it is not JSON: {error}") from None
    if not isinstance(root, dict | bool):
        raise BadSchema(
            "Invalid JSON schema: expected an object or boolean at the root, "
            f"found {type(root).__name__}"
        )
    return root


def _check(root: Any) -> None:
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(root, default=Draft7Validator).check_schema(root)
    except SchemaError as error:
        raise BadSchema(f"Invalid JSON: {error.message} at {error.json_path}") from None


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(each) for each in value] if isinstance(value, list) else value
