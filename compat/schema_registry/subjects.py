"""Names of subjects with their contexts: `:.staging:orders` is `orders` in the context `.staging`.

The context `.` is the default one, whose subjects are written without it. Ids are of a context.
"""

from __future__ import annotations

import re
from typing import NamedTuple

DEFAULT = "."
EVERYWHERE = ":*:"
GLOBAL = ":.__GLOBAL:"
_QUALIFIED = re.compile(r":(?P<context>\.[^:]*|\*):(?P<name>.*)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Subject(NamedTuple):
    """A subject: its context, and its name there; the name is empty for a context alone."""

    context: str
    name: str

    @property
    def full(self) -> str:
        """As it is stored."""
        return self.name if self.context == DEFAULT else f":{self.context}:{self.name}"

    @property
    def is_context(self) -> bool:
        """Whether a context is meant, and none of its subjects."""
        return not self.name


def subject_of(text: str) -> Subject:
    found = _QUALIFIED.fullmatch(text)
    return Subject(found["context"], found["name"]) if found else Subject(DEFAULT, text)


def is_valid(text: str) -> bool:
    subject = subject_of(text)
    return bool(subject.name.strip()) and not _CONTROL.search(text) and text != "__GLOBAL"


def beside(subject: str, other: str) -> str:
    """A subject that a schema of `subject` refers to: in its context, if it has none of its own."""
    if _QUALIFIED.fullmatch(other):
        return subject_of(other).full
    return Subject(subject_of(subject).context, other).full


def in_context(context: str, text: str) -> str:
    """The subject in a context: as it is, if it names one itself; "" is the context alone."""
    if _QUALIFIED.fullmatch(text) or context == DEFAULT:
        return text
    return f":{context}:{text}"


def begins(subject: str, prefix: str) -> bool:
    if prefix.startswith(EVERYWHERE):
        return subject_of(subject).name.startswith(prefix[len(EVERYWHERE) :])
    wanted, found = subject_of(prefix), subject_of(subject)
    return found.context == wanted.context and found.name.startswith(wanted.name)
