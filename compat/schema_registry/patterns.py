"""Regular expressions of schemas, which anybody may have written."""

from __future__ import annotations

_REPEATS = "*+{"


def is_explosive(pattern: str) -> bool:
    """Whether matching may take time that doubles with each character: a group is repeated in which
    something is repeated or chosen."""
    within = [False]
    """Of each group that is open, whether something in it is repeated or chosen."""
    in_class = False
    at = 0
    while at < len(pattern):
        each = pattern[at]
        if each == "\\":
            at += 1
        elif in_class:
            in_class = each != "]"
        elif each == "[":
            in_class = True
        elif each == "(":
            within.append(False)
        elif each == ")" and len(within) > 1:
            is_loose = within.pop()
            is_repeated = pattern[at + 1 : at + 2] in tuple(_REPEATS)
            if is_loose and is_repeated:
                return True
            within[-1] = within[-1] or is_loose or is_repeated
        elif each in _REPEATS or each == "|":
            within[-1] = True
        at += 1
    return False
