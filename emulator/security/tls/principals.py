"""The principal of a client that has shown a certificate: its subject, or what rules make of it.

- The subject is written as RFC 2253 has it, the last part first: `CN=Client,OU=unit,O=probe`.
- `ssl.principal.mapping.rules` has rules with commas between them: `RULE:pattern/replacement/` and
  perhaps `L` or `U` for small or capital letters, or `DEFAULT`. The first that matches all of the
  subject counts. Patterns are Java's, of which Python knows nearly all.

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
_BACK = re.compile(r"\$(\d+)")


class _Rule(NamedTuple):
    """One rule; without a pattern it is DEFAULT."""

    pattern: re.Pattern[str] | None
    replacement: str
    letters: str


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
    """What the rules make of a subject; None if none matches. Raises ConfigError."""
    for rule in parsed(rules):
        if rule.pattern is None:
            return name
        match = rule.pattern.fullmatch(name)
        if match is not None:
            found = match.expand(rule.replacement)
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
            rules.append(_Rule(None, "", ""))
            continue
        try:
            compiled = re.compile(pattern)
            back = _BACK.sub(r"\\g<\1>", replacement)
        except re.error as error:
            raise ConfigError(_CONFIG, f"{_CONFIG}: {pattern!r}: {error}") from None
        rules.append(_Rule(compiled, back, letters))
    return tuple(rules)
