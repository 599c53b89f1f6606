"""The errors of a registry: the status, the code and the words of each, as Confluent's has them.

Source: the API's reference, and the answers of Confluent's registry 8.5.
"""

from __future__ import annotations

LEVELS = (
    "NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE",
    "FULL_TRANSITIVE",
)  # fmt: skip
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")

_ERRORS: dict[str, tuple[int, int, str]] = {
    "no_subject": (404, 40401, "Subject '{0}' not found."),
    "no_version": (404, 40402, "Version {0} not found."),
    "no_schema": (404, 40403, "Schema not found"),
    "no_id": (404, 40403, "Schema {0} not found"),
    "subject_soft_deleted": (
        404, 40404, "Subject '{0}' was soft deleted.Set permanent=true to delete permanently"),
    "subject_not_soft_deleted": (
        404, 40405, "Subject '{0}' was not deleted first before being permanently deleted"),
    "version_soft_deleted": (
        404, 40406,
        "Subject '{0}' Version {1} was soft deleted.Set permanent=true to delete permanently"),
    "version_not_soft_deleted": (
        404, 40407,
        "Subject '{0}' Version {1} was not deleted first before being permanently deleted"),
    "no_level": (
        404, 40408, "Subject '{0}' does not have subject-level compatibility configured"),
    "no_mode": (404, 40409, "Subject '{0}' does not have subject-level mode configured"),
    "incompatible": (
        409, 40901, "Schema being registered is incompatible with an earlier schema for subject "
        '"{0}", details: {1}'),
    "invalid_schema": (422, 42201, "{0}"),
    "invalid_version": (
        422, 42202, "The specified version '{0}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'),
    "invalid_level": (
        422, 42203, "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive"),
    "invalid_mode": (
        422, 42204, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."),
    "not_permitted": (422, 42205, "{0}"),
    "referred_to": (
        422, 42206, "One or more references exist to the schema "
        "{{magic=1,keytype=SCHEMA,subject={0},version={1}}}."),
    "other_id": (422, 42207, "{0}"),
    "invalid_subject": (422, 42208, "The specified subject '{0}' is not a valid subject."),
    "too_large": (422, 42209, "{0}"),
    "context_not_empty": (422, 42211, "The specified context '{0}' is not empty."),
    "no_store": (500, 50001, "{0}"),
    "timed_out": (500, 50002, "{0}"),
    "bad_request": (400, 400, "{0}"),
    "no_page": (404, 404, "HTTP 404 Not Found"),
    "no_method": (405, 405, "HTTP 405 Method Not Allowed"),
    "unprocessable": (422, 422, "{0}"),
    "failed": (500, 500, "Internal Server Error"),
    "overloaded": (503, 503, "HTTP 503 Service Unavailable"),
}  # fmt: skip


class Refused(Exception):
    """A request is refused: `name` is one of the errors of this module."""

    def __init__(self, name: str, *details: object) -> None:
        self.name = name
        self.status, self.code, text = _ERRORS[name]
        self.message = text.format(*details)
        super().__init__(self.message)

    @property
    def body(self) -> dict[str, object]:
        return {"error_code": self.code, "message": self.message}


def named(name: str) -> Refused:
    """An error by its name, without details; for faults. Raises ValueError."""
    if name not in _ERRORS:
        raise ValueError(f"no such error: {name!r}; there are {', '.join(_ERRORS)}")
    return Refused(name, "", "")
