"""The text of a `sasl.jaas.config`: one login module and its options.

    org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";

Source: javax.security.auth.login.Configuration; KIP-85.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"=;]+)|(=|;))""", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
_FLAGS = ("required", "requisite", "sufficient", "optional")
_END = ("", ";")


class LoginModule(NamedTuple):
    """A class, and its options by name."""

    class_name: str
    options: dict[str, str]


def parse_jaas(text: str) -> LoginModule:
    """Raises ValueError, which says what is wrong and quotes nothing of the text: it has
    passwords."""
    words = _words(text)
    if len(words) < 2 or words[1][0].lower() not in _FLAGS or words[0][1]:
        raise ValueError(f"it begins with a login module and one of {', '.join(_FLAGS)}")
    if words[-1] != (";", True):
        raise ValueError("it does not end with a semicolon")
    options: dict[str, str] = {}
    rest = words[2:-1]
    if len(rest) % 3:
        raise ValueError('its options are not all of the form name="value"')
    for at in range(0, len(rest), 3):
        (name, is_sign), equals, (value, no_value) = rest[at : at + 3]
        if is_sign or no_value or equals != ("=", True):
            raise ValueError('its options are not all of the form name="value"')
        options[name] = value
    return LoginModule(words[0][0], options)


def written(module: LoginModule) -> str:
    """The text that `parse_jaas` reads."""
    quoted = (f' {_name(name)}="{_escaped(value)}"' for name, value in module.options.items())
    return f"{module.class_name} required{''.join(quoted)};"


def _name(name: str) -> str:
    """The name of an option: in quotation marks, as Kafka reads it, unless it is a plain word."""
    return name if _PLAIN.fullmatch(name) else f'"{_escaped(name)}"'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _words(text: str) -> list[tuple[str, bool]]:
    """Its words, and whether each is a sign. Raises ValueError."""
    found: list[tuple[str, bool]] = []
    pos, text = 0, text.rstrip()
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if match is None:
            raise ValueError("a quotation mark is not closed")
        pos = match.end()
        quoted, word, sign = match.groups()
        if quoted is not None:
            found.append((re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL), False))
        else:
            found.append((word or sign, sign is not None))
    return found
