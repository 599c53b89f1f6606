"""Values to try for a config: valid and invalid ones of its type, and the ends of its range."""

from __future__ import annotations

_LARGEST_LONG = "9223372036854775807"

_TEXTS = ("", " ", ",", "a", "a,a", "compact", "COMPACT", "delete,compact", "compact,", "*")
_LISTS = (*_TEXTS, "0:1", "0:1,0:1", "*,0:1", "0:-1", " 0:1 , 1:1 ")
VALUES: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("true", "TRUE", " false ", "yes", "1", ""),
    "INT": (
        "2147483647",
        "2147483648",
        "-2147483648",
        "1.0",
        "0x10",
        "+5",
        " 7 ",
        "",
        "1e3",
        "\u0663",
    ),
    "LONG": (_LARGEST_LONG, "9223372036854775808", "-1", "-2", "-3", "1.0", "+5", " 7 ", "", "1_0"),
    "DOUBLE": ("0", "1", "1.0000001", "-0.0001", "1e-1", " .5 ", "0.5d", "NaN", "Infinity", ""),
    "LIST": _LISTS,
    "STRING": ("", " ", "x", "gzip", "GZIP", "none", "CreateTime", "logappendtime", " producer "),
}


def values_of(kind: str, rule: str) -> list[str]:
    """Values to try for a config of this type and with this rule."""
    values = list(VALUES[kind])
    for end in rule.replace(",", "..").split(".."):
        if end.lstrip("-").isdigit():
            values += [str(int(end) + shift) for shift in (-1, 0, 1)]
    return list(dict.fromkeys(values))
