"""Older releases of Confluent's registry: what each of them had not yet.

A path, a method or a parameter that a release has not is answered as it answers what there is not;
a field of a request that it does not know is refused (before 6.2) or passed over; fields of answers
are left out. Rules of compatibility and messages are those of the newest.

Source: `rest/resources` and `client/rest/entities` of the registry's releases 5.0 to 8.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .errors import Refused

Version = tuple[int, int]
NEWEST: Version = (8, 5)
OLDEST: Version = (5, 0)
_STRICT_BEFORE: Version = (6, 2)

_PATHS: dict[tuple[str, str], Version] = {
    ("GET", "/mode"): (5, 2),
    ("GET", "/mode/{subject}"): (5, 2),
    ("PUT", "/mode"): (5, 2),
    ("PUT", "/mode/{subject}"): (5, 2),
    ("GET", "/schemas/ids/{id}/subjects"): (5, 4),
    ("GET", "/v1/metadata/id"): (5, 4),
    ("GET", "/schemas/ids/{id}/versions"): (5, 5),
    ("GET", "/schemas/types"): (5, 5),
    ("GET", "/subjects/{subject}/versions/{version}/referencedby"): (5, 5),
    ("GET", "/schemas"): (6, 1),
    ("DELETE", "/config/{subject}"): (7, 0),
    ("DELETE", "/mode/{subject}"): (7, 0),
    ("GET", "/contexts"): (7, 0),
    ("POST", "/compatibility/subjects/{subject}/versions"): (7, 0),
    ("DELETE", "/config"): (7, 2),
    ("GET", "/v1/metadata/version"): (7, 2),
    ("GET", "/schemas/ids/{id}/schema"): (7, 3),
    ("GET", "/subjects/{subject}/metadata"): (7, 4),
    ("GET", "/schemas/guids/{guid}"): (8, 0),
    ("GET", "/schemas/guids/{guid}/ids"): (8, 0),
    ("DELETE", "/contexts/{context}"): (8, 0),
    ("DELETE", "/mode"): (8, 0),
}
"""The release that brought a method of a path; what is not here is older than all."""

_PARAMETERS: dict[tuple[str, str], Version] = {
    ("/config", "defaultToGlobal"): (5, 4),
    ("/schemas/ids/{id}", "fetchMaxId"): (5, 4),
    ("/schemas/ids/{id}", "format"): (5, 5),
    ("/subjects/{subject}/versions/{version}", "deleted"): (5, 5),
    ("/subjects", "deleted"): (6, 0),
    ("/subjects/{subject}/versions", "deleted"): (6, 0),
    ("", "permanent"): (6, 0),
    ("", "verbose"): (6, 1),
    ("/schemas/ids/{id}/subjects", "deleted"): (6, 1),
    ("/schemas/ids/{id}/versions", "deleted"): (6, 1),
    ("/mode", "defaultToGlobal"): (7, 0),
    ("/mode", "force"): (7, 0),
    ("/schemas/ids/{id}", "subject"): (7, 0),
    ("/subjects", "subjectPrefix"): (7, 0),
    ("/compatibility/subjects/{subject}/versions", "normalize"): (7, 4),
    ("", "normalize"): (7, 1),
    ("", "deletedOnly"): (7, 4),
    ("/subjects/{subject}", "format"): (7, 8),
    ("/subjects", "offset"): (7, 9),
    ("/subjects", "limit"): (7, 9),
    ("", "contextPrefix"): (8, 0),
    ("", "deletedAsNegative"): (8, 0),
}
"""The release that brought a parameter of the paths that begin so; the first that fits counts."""

_ASKED: dict[str, Version] = {
    "version": (5, 2),
    "id": (5, 2),
    "schemaType": (5, 5),
    "references": (5, 5),
    "metadata": (7, 4),
    "ruleSet": (7, 4),
    "compatibilityGroup": (7, 4),
    "normalize": (7, 6),
    "alias": (7, 6),
}
_ANSWERED: dict[str, Version] = {
    "schemaType": (5, 5),
    "references": (5, 5),
    "metadata": (7, 4),
    "ruleSet": (7, 4),
    "guid": (8, 0),
    "ts": (8, 0),
    "deleted": (8, 0),
}
_REGISTER, _BY_ID = "/subjects/{subject}/versions", "/schemas/ids/{id}"
_MORE_THAN_ID: Version = (7, 5)
_BY_ID_SAYS_WHOSE: Version = (8, 0)
_AVRO_IS_SAID: Version = (8, 0)


class Release(NamedTuple):
    version: Version

    def check(self, method: str, path: str, methods: Iterable[str]) -> None:
        """Raises Refused for what it has not; `methods` are those that the newest has there."""
        if not self._has(method, path):
            is_path = any(self._has(each, path) for each in methods)
            raise Refused("no_method" if is_path else "no_page")

    def _has(self, method: str, path: str) -> bool:
        return self.version >= _PATHS.get((method, path), OLDEST)

    def ignores(self, path: str, parameter: str) -> bool:
        for (begin, name), since in _PARAMETERS.items():
            if name == parameter and path.startswith(begin):
                return self.version < since
        return False

    def understood(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a request's body that it knows. Raises Refused."""
        unknown = [each for each in body if self.version < _ASKED.get(each, OLDEST)]
        if unknown and self.version < _STRICT_BEFORE:
            raise Refused("unprocessable", f"Unrecognized field: {unknown[0]}")
        return {key: value for key, value in body.items() if key not in unknown}

    def answer(self, method: str, path: str, body: Any) -> Any:
        """The answer, without what it did not say."""
        if isinstance(body, list):
            return [self.answer(method, path, each) for each in body]
        if not isinstance(body, dict) or "error_code" in body:
            return body
        if (method, path) == ("POST", _REGISTER) and self.version < _MORE_THAN_ID:
            return {"id": body["id"]}
        left_out = {each for each, since in _ANSWERED.items() if self.version < since}
        if path == _BY_ID and self.version < _BY_ID_SAYS_WHOSE:
            left_out |= {"subject", "version"}
        if body.get("schemaType") == "AVRO" and self.version < _AVRO_IS_SAID:
            left_out.add("schemaType")
        return {key: value for key, value in body.items() if key not in left_out}


def release_of(text: str) -> Release:
    """A release by its name: "5.4", "7.0.1". Raises ValueError."""
    parts = str(text).split(".")
    if not 2 <= len(parts) <= 3 or not all(each.isdigit() for each in parts):
        raise ValueError(f"a release of a registry is written as 7.4, not {text!r}")
    version = int(parts[0]), int(parts[1])
    if not OLDEST <= version <= NEWEST:
        first, last = (".".join(map(str, each)) for each in (OLDEST, NEWEST))
        raise ValueError(f"releases from {first} to {last} are known, not {text}")
    return Release(version)
