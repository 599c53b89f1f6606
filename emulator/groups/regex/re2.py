"""Regular expressions as a broker reads them: RE2's syntax, in Python.

`compile_re2` reads an expression by RE2's rules and writes it anew for Python's parser; what RE2
does not know (lookahead, backreferences, possessive repetition, ...) is refused in RE2/J's words.
It is matched by automaton.py, in time that grows with the text as RE2's does. Source: the syntax
page of RE2.

Differences that stay: of the Unicode classes only general categories and the scripts Latin, Greek
and Cyrillic are known, and they stand for the first 65536 characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from .automaton import Automaton, TooLarge

_REPEAT_MAX = 1000
_PERL = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_SCRIPTS = {"Latin": "LATIN ", "Greek": "GREEK ", "Cyrillic": "CYRILLIC "}
_NAME = re.compile(r"[0-9A-Za-z_]+")
_PYTHON_FLAGS = "is"


class InvalidRegex(ValueError):
    """Not a regular expression; the text says why, in RE2/J's words."""


MISSING_ARGUMENT = "missing argument to repetition operator"
NESTED_REPEAT = "invalid nested repetition operator"
BAD_REPEAT = "invalid repeat count"
BAD_ESCAPE = "invalid escape sequence"
BAD_RANGE = "invalid character class range"
BAD_PERL = "invalid or unsupported Perl syntax"
BAD_NAME = "invalid named capture"
DUPLICATE_NAME = "duplicate capture group name"
NO_CLOSING_PAREN = "missing closing )"
NO_CLOSING_BRACKET = "missing closing ]"
UNEXPECTED_PAREN = "regexp/syntax: internal error"
TRAILING_BACKSLASH = "trailing backslash at end of expression"


@cache
def compile_re2(expression: str) -> Automaton:
    """The expression, to be used by its `fullmatch`. Raises InvalidRegex."""
    try:
        return Automaton(_Reader(expression).read())
    except TooLarge:
        raise InvalidRegex(BAD_REPEAT) from None


class _Reader:
    """Reads one expression from left to right and writes it anew."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.flags = ""
        self.follows_brace = False
        self.names: set[str] = set()

    def read(self) -> str:
        written = self.alternatives()
        if self.pos < len(self.text):
            raise InvalidRegex(UNEXPECTED_PAREN)
        return written

    def looking_at(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.pos)

    def take(self) -> str:
        self.pos += 1
        return self.text[self.pos - 1]

    def alternatives(self) -> str:
        """Up to the end of the group, or of the text."""
        branches = [self.branch()]
        while self.looking_at("|"):
            self.pos += 1
            branches.append(self.branch())
        return "|".join(branches)

    def branch(self) -> str:
        written: list[str] = []
        while self.pos < len(self.text) and self.text[self.pos] not in "|)":
            if not self.is_at_operator():
                if self.looking_at(r"\Q"):
                    written += self.quoted()
                    self.follows_brace = False
                else:
                    self.follows_brace = self.looking_at("{")
                    atom = self.atom()
                    if atom is None:  # flags: an operator behind them is for what stands before
                        self.follows_brace = False
                        continue
                    written.append(atom)
            elif not written:
                raise InvalidRegex(MISSING_ARGUMENT)
            if written:
                written[-1] = self.repeated(written[-1])
        return "".join(written)

    # Repetition

    def repeated(self, atom: str) -> str:
        if not self.is_at_operator():
            return atom
        if self.follows_brace:  # RE2/J takes a lone brace for an operator here
            raise InvalidRegex(NESTED_REPEAT)
        operator = self.operator()
        if self.is_at_operator():
            raise InvalidRegex(NESTED_REPEAT)
        return f"(?:{atom}){operator}"

    def is_at_operator(self) -> bool:
        """Whether a repetition stands here. Raises InvalidRegex for counts that cannot be."""
        counts = self.repeat_count()
        if counts is None:
            return self.pos < len(self.text) and self.text[self.pos] in "*+?"
        low, high, _ = counts
        if low > _REPEAT_MAX or high > _REPEAT_MAX or 0 <= high < low:
            raise InvalidRegex(BAD_REPEAT)
        return True

    def operator(self) -> str:
        counts = self.repeat_count()
        if counts is None:
            written = self.take()
        else:
            low, high, self.pos = counts
            written = f"{{{low},{'' if high < 0 else high}}}"
        lazy = self.looking_at("?")
        self.pos += lazy
        return written + "?" * (lazy != ("U" in self.flags))

    def repeat_count(self) -> tuple[int, int, int] | None:
        """{low}, {low,} (high is -1) or {low,high} that stands here, and where it ends."""
        found = re.compile(r"\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}", re.A).match(self.text, self.pos)
        if found is None:
            return None
        low = int(found[1])
        high = low if found[2] is None else -1 if found[3] is None else int(found[3])
        return low, high, found.end()

    # Atoms

    def atom(self) -> str | None:
        """One piece that may be repeated; None for flags, which are none."""
        if self.looking_at("("):
            return self.group()
        if self.looking_at("["):
            return self.scoped(self.char_class())
        char = self.take()
        if char == ".":
            return self.scoped(".")
        if char == "^":
            return "(?m:^)" if "m" in self.flags else r"\A"
        if char == "$":
            return "(?m:$)" if "m" in self.flags else r"\Z"
        if char == "\\":
            return self.escape()
        return self.scoped(re.escape(char))

    def scoped(self, atom: str) -> str:
        flags = "".join(flag for flag in _PYTHON_FLAGS if flag in self.flags)
        return f"(?{flags}:{atom})" if flags else atom

    def quoted(self) -> list[str]:
        end = self.text.find(r"\E", self.pos)
        literal = self.text[self.pos + 2 : end if end >= 0 else len(self.text)]
        self.pos = end + 2 if end >= 0 else len(self.text)
        return [self.scoped(re.escape(char)) for char in literal]

    def group(self) -> str | None:
        self.pos += 1
        outer = self.flags
        if self.looking_at("?P<") or self.looking_at("?<"):
            self.name()
        elif self.looking_at("?") and self.read_flags():
            return None  # they hold to the end of the group around it
        inner = self.alternatives()
        if not self.looking_at(")"):
            raise InvalidRegex(NO_CLOSING_PAREN)
        self.pos += 1
        self.flags = outer
        return f"(?:{inner})"

    def name(self) -> None:
        start = self.pos + (3 if self.looking_at("?P") else 2)
        end = self.text.find(">", start)
        name = self.text[start:end] if end >= 0 else ""
        if not _NAME.fullmatch(name):
            raise InvalidRegex(BAD_NAME)
        if name in self.names:
            raise InvalidRegex(DUPLICATE_NAME)
        self.names.add(name)
        self.pos = end + 1

    def read_flags(self) -> bool:
        """(?flags) or (?flags: ; True for the first, which is a group of its own."""
        found = re.compile(r"\?([imsU]*)(-[imsU]+)?([:)])").match(self.text, self.pos)
        if found is None:
            raise InvalidRegex(BAD_PERL)
        self.pos = found.end()
        gone = (found[2] or "")[1:]
        self.flags = "".join(sorted((set(self.flags) | set(found[1])) - set(gone)))
        return found[3] == ")"

    # Escapes and classes

    def escape(self) -> str:
        if self.pos == len(self.text):
            raise InvalidRegex(TRAILING_BACKSLASH)
        char = self.text[self.pos]
        if char in "AbBz":
            self.pos += 1
            # Python's own \B does not match in an empty text.
            return {"z": r"\Z", "A": r"\A", "b": r"(?a:\b)", "B": r"(?a:(?!\b))"}[char]
        items = self.class_escape()
        if items is not None:
            return self.scoped(f"[{items}]")
        return self.scoped(re.escape(chr(self.char_escape())))

    def class_escape(self) -> str | None:
        """Behind a backslash: the characters of a class, or None if it names only one."""
        char = self.text[self.pos]
        if char.lower() in _PERL:
            self.pos += 1
            items = _PERL[char.lower()]
            return items if char.islower() else _others(items)
        if char in "pP":
            self.pos += 1
            return self.unicode_class(char == "P")
        return None

    def unicode_class(self, negated: bool) -> str:
        if self.looking_at("{"):
            end = self.text.find("}", self.pos)
            if end < 0:
                raise InvalidRegex(BAD_RANGE)
            name = self.text[self.pos + 1 : end]
            self.pos = end + 1
        elif self.pos < len(self.text):
            name = self.take()
        else:
            raise InvalidRegex(BAD_RANGE)
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        items = _unicode_items(name)
        return _others(items) if negated else items

    def char_escape(self) -> int:
        """Behind a backslash: the code of one character."""
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.text, self.pos)
        hexadecimal = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))").match(
            self.text, self.pos
        )
        if octal is not None:
            self.pos = octal.end()
            return int(octal[0], 8)
        if hexadecimal is not None:
            self.pos = hexadecimal.end()
            code = int(hexadecimal[1] or hexadecimal[2], 16)
            if code <= 0x10FFFF:
                return code
            raise InvalidRegex(BAD_ESCAPE)
        char = self.take()
        if char in _CONTROLS:
            return _CONTROLS[char]
        if not (char.isascii() and char.isalnum()):
            return ord(char)
        raise InvalidRegex(BAD_ESCAPE)

    def char_class(self) -> str:
        self.pos += 1
        negated = self.looking_at("^")
        self.pos += negated
        items: list[str] = []
        while not (self.looking_at("]") and items):
            if self.pos == len(self.text):
                raise InvalidRegex(NO_CLOSING_BRACKET)
            items.append(self.class_item())
        self.pos += 1
        return f"[{'^' * negated}{''.join(items)}]"

    def class_item(self) -> str:
        if self.looking_at("[:"):
            end = self.text.find(":]", self.pos + 2)
            if end >= 0:
                name = self.text[self.pos + 2 : end]
                items = _POSIX.get(name.removeprefix("^"))
                if items is None:
                    raise InvalidRegex(BAD_RANGE)
                self.pos = end + 2
                return _others(items) if name.startswith("^") else items
        if self.looking_at("\\") and self.pos + 1 < len(self.text):
            self.pos += 1
            escaped = self.class_escape()
            if escaped is not None:
                return escaped
            self.pos -= 1
        low = self.class_char()
        if not self.looking_at("-") or self.text.startswith("-]", self.pos):
            return _code(low)
        self.pos += 1
        high = self.class_char()
        if high < low:
            raise InvalidRegex(BAD_RANGE)
        return f"{_code(low)}-{_code(high)}"

    def class_char(self) -> int:
        if self.pos == len(self.text):
            raise InvalidRegex(NO_CLOSING_BRACKET)
        char = self.take()
        if char != "\\":
            return ord(char)
        if self.pos == len(self.text):
            raise InvalidRegex(TRAILING_BACKSLASH)
        return self.char_escape()


def _code(char: int) -> str:
    return f"\\U{char:08x}"


@cache
def _others(items: str) -> str:
    """The characters that are not among these, as items of a class."""
    wanted = re.compile(f"[^{items}]")
    return _ranges([code for code in range(0x10000) if wanted.match(chr(code))])


@cache
def _unicode_items(name: str) -> str:
    """The characters of a category or script. Raises InvalidRegex for one that is not known."""
    script = _SCRIPTS.get(name)
    codes = [
        code
        for code in range(0x10000)
        if (unicodedata.category(chr(code)).startswith(name) and len(name) in (1, 2))
        or name == "Any"
        or (script is not None and unicodedata.name(chr(code), "").startswith(script))
    ]
    if not codes:
        raise InvalidRegex(BAD_RANGE)
    return _ranges(codes)


def _ranges(codes: list[int]) -> str:
    items: list[list[int]] = []
    for code in codes:
        if items and items[-1][1] == code - 1:
            items[-1][1] = code
        else:
            items.append([code, code])
    return "".join(f"{_code(low)}-{_code(high)}" for low, high in items)
