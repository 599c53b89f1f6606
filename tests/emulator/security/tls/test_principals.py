"""Who a client with a certificate is: subjects in Kafka's form, and rules about them."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.config.definition import ConfigError
from odradek.emulator.security.tls.principals import mapped, subject

NAME = "CN=Client,OU=unit,O=probe"


def seen(*parts: tuple[str, str]) -> dict[str, Any]:
    """As Python's ssl has a certificate: the first part of the subject first."""
    return {"subject": tuple((part,) for part in parts)}


def test_the_last_part_of_a_subject_is_written_first() -> None:
    parts = ("organizationName", "probe"), ("organizationalUnitName", "unit")
    assert subject(seen(*parts, ("commonName", "Client"))) == NAME


@pytest.mark.parametrize("certificate", [None, {}])
def test_without_a_certificate_there_is_no_subject(certificate: dict[str, Any] | None) -> None:
    assert subject(certificate) is None


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (("commonName", 'a,b+c"d'), r"CN=a\,b\+c\"d"),
        (("commonName", "#1"), r"CN=\#1"),
        (("commonName", " a "), r"CN=\ a\ "),
        (("userId", "u"), "UID=u"),
        (("emailAddress", "a@b"), "1.2.840.113549.1.9.1=#1603614062"),
    ],
)
def test_characters_and_numbers_are_written_as_java_does(
    part: tuple[str, str], written: str
) -> None:
    assert subject(seen(part)) == written


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("DEFAULT", NAME),
        ("RULE:^CN=(.*?),OU=unit.*$/$1/", "Client"),
        ("RULE:^CN=(.*?),OU=unit.*$/$1/L", "client"),
        ("RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/U , DEFAULT", "CLIENT@UNIT"),
        ("RULE:CN=(.*)/$1/", "Client,OU=unit,O=probe"),
        ("RULE:^CN=other$/other/,DEFAULT", NAME),
        ("RULE:^CN=other$/other/", None),
    ],
)
def test_the_first_rule_that_matches_counts(rules: str, found: str | None) -> None:
    assert mapped(NAME, rules) == found


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (r"^CN=(.*)$/$5/", "$5"),
        (r"^CN=(.*)$/$12/", "a2"),
        (r"^CN=(.*)$/$0/", "CN=a"),
        (r"^CN=(.*)$/$01/", "a"),
        (r".*/x/", "xx"),
        (r"CN=(.*?)/<$1>/", "<>a"),
        (r"^CN=(.*)$/a\/b\.$1/", "a/b.a"),
        (r"^CN=(.*)$/\$1/", "$1"),
        (r"^CN=(.*)$/\g<1>/", "g<1>"),
        (r"^CN=(.*)$/$1\\/", "a\\"),
        (r"^CN=(b)?(.*)$/[$1]$2/", "[]a"),
        (r"^CN=(?<name>.*)$/${name}!/", "a!"),
    ],
)
def test_replacements_are_those_of_java(rule: str, found: str) -> None:
    """Each was seen at Kafka's SslPrincipalMapper."""
    assert mapped("CN=a", f"RULE:{rule}") == found


@pytest.mark.parametrize(
    "rules",
    [
        *("NONE", "RULE:a", "RULE:a/b/X", "RULE:(/b/"),
        *("RULE:a/$1/", "RULE:(a)/$x/", "RULE:(a)/$1$/", "RULE:(a)/${n}/"),
    ],
)
def test_rules_that_cannot_be_read_are_refused(rules: str) -> None:
    with pytest.raises(ConfigError, match=r"ssl\.principal\.mapping\.rules: "):
        mapped(NAME, rules)
