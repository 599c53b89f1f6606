"""The principal of a client that has shown a certificate: its subject, or what rules make of it.

- The subject is written as RFC 2253 has it, the last part first: `CN=Client,OU=unit,O=probe`.
- `ssl.principal.mapping.rules` has rules with commas between them: `RULE:pattern/replacement/` and
  perhaps `L` or `U` for small or capital letters, or `DEFAULT`. The first that matches all of the
  subject counts. Patterns are Java's, of which Python knows nearly all. Replacements are those of
  Java's `replaceAll`: `$1` is a group, a backslash takes a character as it is. The number of a
  group that there is not stands for itself, unless the pattern has no group.

Source: KIP-371; Kafka 4.3.1's SslPrincipalMapper; RFC 2253.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ...config.definition import ConfigError

_CONFIG = "ssl.principal.mapping.rules"
_KEYWORDS = {
    "commonName": "CN",
    "countryName": "C",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
_NUMBERS = {
    "emailAddress": ("1.2.840.113549.1.9.1", 0x16),
    "serialNumber": ("2.5.4.5", 0x13),
    "title": ("2.5.4.12", 0x0C),
    "givenName": ("2.5.4.42", 0x0C),
    "surname": ("2.5.4.4", 0x0C),
}
"""Those that Java writes by number: the number, and the tag of the text in DER."""
_ESCAPED = re.compile(r'([,+"\\<>;=])')
_RULE = re.compile(r"\s*(?:(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))\s*(,|$)")
_GROUP_NAME = re.compile(r"\(\?<(?=[A-Za-z])")
_PART = re.compile(r"\\(.)|\$(?:(\d+)|\{([A-Za-z]\w*)\})|([^\\$]+)", re.DOTALL)


class _Group(NamedTuple):
    """The match of a group, by its number or name."""

    name: int | str


class _Rule(NamedTuple):
    """One rule; without a pattern it is DEFAULT. The replacement is texts and groups."""

    pattern: re.Pattern[str] | None
    replacement: tuple[str | _Group, ...]
    letters: str

    def replaced(self, match: re.Match[str]) -> str:
        parts = (
            match[each.name] if isinstance(each, _Group) else each for each in self.replacement
        )
        return "".join(part or "" for part in parts)


def subject(certificate: Mapping[str, Any] | None) -> str | None:
    """The subject of what `ssl.SSLSocket.getpeercert` returns; None without a certificate."""
    if not certificate:
        return None
    parts: Iterable[Any] = reversed(certificate.get("subject", ()))
    return ",".join("+".join(_written(name, value) for name, value in part) for part in parts)


def _written(name: str, value: str) -> str:
    if name in _NUMBERS:
        number, tag = _NUMBERS[name]
        data = value.encode()
        return f"{number}=#{bytes([tag, len(data) & 0x7F]).hex()}{data.hex()}"
    text = _ESCAPED.sub(r"\\\1", value)
    if text[:1] in ("#", " "):
        text = "\\" + text
    if text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1] + "\\ "
    return f"{_KEYWORDS.get(name, name)}={text}"


def mapped(name: str, rules: str) -> str | None:
    """The principal of a subject by the rules; None if none matches. Raises ConfigError."""
    for rule in parsed(rules):
        if rule.pattern is None:
            return name
        if rule.pattern.fullmatch(name) is not None:
            found = rule.pattern.sub(rule.replaced, name)
            return (
                found.lower() if rule.letters == "L" else found.upper() if rule.letters else found
            )
    return None


@lru_cache(maxsize=64)
def parsed(text: str) -> tuple[_Rule, ...]:
    """Raises ConfigError for rules that cannot be read."""
    rules, pos = [], 0
    while pos < len(text):
        match = _RULE.match(text, pos)
        if match is None:
            why = "a rule is DEFAULT or RULE:pattern/replacement/, and L or U after it"
            raise ConfigError(_CONFIG, f"{_CONFIG}: {text[pos:]!r} is no rule: {why}")
        pos = match.end()
        default, pattern, replacement, letters, _ = match.groups()
        if default:
            rules.append(_Rule(None, (), ""))
            continue
        try:
            compiled = re.compile(_GROUP_NAME.sub("(?P<", pattern))
            parts = _parts(replacement, compiled)
        except (re.error, ValueError) as error:
            raise ConfigError(_CONFIG, f"{_CONFIG}: {match[0].strip()!r}: {error}") from None
        rules.append(_Rule(compiled, parts, letters))
    return tuple(rules)


def _parts(text: str, pattern: re.Pattern[str]) -> tuple[str | _Group, ...]:
    """A replacement. Raises ValueError."""
    found: list[str | _Group] = []
    pos = 0
    while pos < len(text):
        match = _PART.match(text, pos)
        if match is None:
            raise ValueError(
                "after $ there is the number of a group, after a backslash a character"
            )
        pos = match.end()
        escaped, number, name, plain = match.groups()
        if number is not None:
            found += _numbered(number, pattern.groups)
        elif name is None:
            found.append(escaped or plain)
        elif name in pattern.groupindex:
            found.append(_Group(name))
        else:
            raise ValueError(f"there is no group named {name}")
    return tuple(found)


def _numbered(number: str, groups: int) -> list[str | _Group]:
    """A group by its number, of which as many digits count as there may be; the rest is text."""
    for length in range(len(number), 0, -1):
        if int(number[:length]) <= groups:
            return [_Group(int(number[:length])), number[length:]]
    if not groups:
        raise ValueError(f"there is no group {number[0]}")
    return ["$" + number]
