"""Regular expressions as a broker reads them: RE2's syntax.

`compile_re2` reads an expression by the rules of RE2/J, which is what a broker has; what that does
not know (lookahead, backreferences, possessive repetition, ...) is refused in its words. It is
matched by automaton.py. Sources: the syntax page of RE2; the answers of a broker.

- A repetition is for the character, class, place or group before it, whatever flags or empty
  quotations stand between. Two of them may not follow one another, and RE2/J takes a brace that is
  none (`a{`) for one here.
- Counts go up to 1000 each. Nested ones, and the depth of groups, are not limited here; RE2/J runs
  out of memory or stack some time, and the broker answers UNKNOWN_SERVER_ERROR.
- Flags hold to the end of the group that they stand in.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from operator import eq

from .automaton import Automaton, Fragment, Place, Program
from .characters import PERL, POSIX, Characters, Item, between, unicode_class

_REPEAT_MAX = 1000
_REPEAT_DIGITS_MAX = 8
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PLACES = {
    "A": Place.BEGIN_TEXT,
    "z": Place.END_TEXT,
    "b": Place.WORD_BOUNDARY,
    "B": Place.NO_WORD_BOUNDARY,
}
_SPECIAL = "\\.+*?()|[{^$"
_PLAIN = re.compile(f"[^{re.escape(_SPECIAL)}]+")
_COUNTS = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
_GROUP_NAME = re.compile(r"\?P?<([0-9A-Za-z_]+)>")
_FLAGS = re.compile(r"\?([imsU]*)(-[imsU]+)?([:)])")
_SIMPLE_CLASS = re.compile(r"(\^?)([^\[\]\\^][^\[\]\\]*)\]")
_RANGES = re.compile(r"(.)(?:-(.))?", re.S)
_CLASS_NAME = re.compile(r"\{([^}]*)\}|([^{])", re.S)
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_HEXADECIMAL = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")


_OPERATORS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_PERL = {name: Item(between(PERL[name.lower()]), name.isupper()) for name in "dDsSwW"}
_ANY = Characters([Item(lambda char: True)])
_NOT_NEWLINE = Characters([Item(partial(eq, "\n"), is_negated=True)])


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


def compile_re2(expression: str) -> Automaton:
    """The expression, ready to be matched. Raises InvalidRegex."""
    return Automaton(expression, _read(expression))


@lru_cache(maxsize=4)  # it is checked first, and then looked up
def _read(expression: str) -> Program:
    return _Reader(expression).read()


class _Group:
    """A group that is being read: what it consists of so far, and the flags that hold after it."""

    def __init__(self, flags_after: str) -> None:
        self.flags_after = flags_after
        self.branches: list[Fragment] = []
        self.parts: list[Fragment] = []


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.flags = ""
        self.program = Program()
        self.follows_operator = False
        self.names: set[str] = set()
        self.sets: dict[tuple[str, bool], Characters] = {}
        self.last_posix_end = text.rfind(":]")
        # The group that is being read, and those around it; the outermost is the expression.
        self.group = _Group("")
        self.outer: list[_Group] = []

    def read(self) -> Program:
        length = len(self.text)
        while self.pos < length:
            self.token()
        if self.outer:
            raise InvalidRegex(NO_CLOSING_PAREN)
        self.program.complete(self.end_of(self.group))
        return self.program

    def looking_at(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.pos)

    def take(self) -> str:
        self.pos += 1
        return self.text[self.pos - 1]

    def token(self) -> None:
        char = self.text[self.pos]
        if char not in _SPECIAL:
            plain = _PLAIN.match(self.text, self.pos)
            assert plain is not None
            self.pos = plain.end()
            self.literals(plain[0])
            self.follows_operator = False
            return
        self.pos += 1
        if char in "*+?{":
            self.operator(char)
            self.follows_operator = True
            return
        self.follows_operator = False
        match char:
            case "(":
                self.begin_group()
            case ")":
                self.end_group()
            case "|":
                self.end_branch(self.group)
            case "[":
                self.add_one_of(self.char_class())
            case "\\":
                self.escape()
            case ".":
                self.add_one_of(_ANY if "s" in self.flags else _NOT_NEWLINE)
            case "^":
                self.place(Place.BEGIN_LINE if "m" in self.flags else Place.BEGIN_TEXT)
            case "$":
                self.place(Place.END_LINE if "m" in self.flags else Place.END_TEXT)

    def add_one_of(self, characters: Characters) -> None:
        self.group.parts.append(self.program.one_of(characters))

    def place(self, place: Place) -> None:
        self.group.parts.append(self.program.at(place))

    def literals(self, text: str) -> None:
        folds = "i" in self.flags
        for char in set(text):
            if (char, folds) not in self.sets:
                self.sets[char, folds] = Characters([Item(partial(eq, char))], folds=folds)
        each = [self.sets[char, folds] for char in text]
        if each[1:]:
            self.group.parts.append(self.program.one_of_each(each[:-1]))
        if each:
            self.add_one_of(each[-1])  # a repetition would be for this one alone

    def end_branch(self, group: _Group) -> None:
        group.branches.append(self.program.in_turn(group.parts))
        group.parts = []

    def end_of(self, group: _Group) -> Fragment:
        """All of a group, once it has ended."""
        if group.branches:
            self.end_branch(group)
            return self.program.either(group.branches)
        return self.program.in_turn(group.parts)

    # Repetition

    def operator(self, char: str) -> None:
        if char != "{":
            low, high = _OPERATORS[char]
        else:
            counts = _COUNTS.match(self.text, self.pos - 1)
            if counts is None:
                self.literals(char)
                return
            self.pos = counts.end()
            low, high = _read_counts(counts)
        if self.looking_at("?"):  # which of several matches is preferred makes no difference here
            self.pos += 1
        if self.follows_operator:
            raise InvalidRegex(NESTED_REPEAT)
        if not self.group.parts:
            raise InvalidRegex(MISSING_ARGUMENT)
        self.group.parts[-1] = self.program.repeated(self.group.parts[-1], low, high)

    # Groups

    def begin_group(self) -> None:
        flags = self.flags
        if self.looking_at("?"):
            if self.looking_at("?P<") or self.looking_at("?<"):
                self.name()
            elif self.read_flags():
                return  # they hold to the end of the group around them
        self.outer.append(self.group)
        self.group = _Group(flags)

    def end_group(self) -> None:
        if not self.outer:
            raise InvalidRegex(UNEXPECTED_PAREN)
        inner, self.group = self.group, self.outer.pop()
        self.flags = inner.flags_after
        self.group.parts.append(self.end_of(inner))

    def name(self) -> None:
        found = _GROUP_NAME.match(self.text, self.pos)
        if found is None:
            raise InvalidRegex(BAD_NAME)
        if found[1] in self.names:
            raise InvalidRegex(DUPLICATE_NAME)
        self.names.add(found[1])
        self.pos = found.end()

    def read_flags(self) -> bool:
        """(?flags) or (?flags: ; True for the first, which is a group of its own."""
        found = _FLAGS.match(self.text, self.pos)
        if found is None:
            raise InvalidRegex(BAD_PERL)
        self.pos = found.end()
        added, gone, end = found.groups()
        if added or gone:
            self.flags = "".join(sorted({*self.flags, *added} - {*(gone or "")}))
        return end == ")"

    # Escapes and classes

    def escape(self) -> None:
        if self.pos == len(self.text):
            raise InvalidRegex(TRAILING_BACKSLASH)
        char = self.text[self.pos]
        if char in _PLACES:
            self.pos += 1
            self.place(_PLACES[char])
        elif char == "Q":
            self.pos += 1
            self.quotation()
        else:
            item = self.class_escape()
            if item is None:
                self.literals(chr(self.char_escape()))
            else:
                self.add_one_of(Characters([item], folds="i" in self.flags))

    def quotation(self) -> None:
        end = self.text.find(r"\E", self.pos)
        literal = self.text[self.pos : end if end >= 0 else len(self.text)]
        self.pos = end + 2 if end >= 0 else len(self.text)
        self.literals(literal)

    def class_escape(self) -> Item | None:
        """After a backslash: the characters of a class, or None if it names only one."""
        char = self.text[self.pos]
        if char in _PERL:
            self.pos += 1
            return _PERL[char]
        if char in "pP":
            self.pos += 1
            return self.unicode_class(char == "P")
        return None

    def unicode_class(self, is_negated: bool) -> Item:
        found = _CLASS_NAME.match(self.text, self.pos)
        if found is None:
            raise InvalidRegex(BAD_RANGE)
        self.pos = found.end()
        name = found[1] if found[2] is None else found[2]
        if name.startswith("^"):
            is_negated, name = not is_negated, name[1:]
        test = unicode_class(name)
        if test is None:
            raise InvalidRegex(BAD_RANGE)
        return Item(test, is_negated)

    def char_escape(self) -> int:
        """After a backslash: the code of one character."""
        octal = _OCTAL.match(self.text, self.pos)
        if octal is not None:
            self.pos = octal.end()
            return int(octal[0], 8)
        hexadecimal = _HEXADECIMAL.match(self.text, self.pos)
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

    def char_class(self) -> Characters:
        simple = _SIMPLE_CLASS.match(self.text, self.pos)
        if simple is not None:
            self.pos = simple.end()
            ranges = _RANGES.findall(simple[2])
            if any(high and high < low for low, high in ranges):
                raise InvalidRegex(BAD_RANGE)
            item = Item(between("".join([low + (high or low) for low, high in ranges])))
            return Characters([item], is_negated=simple[1] == "^", folds="i" in self.flags)
        is_negated = self.looking_at("^")
        self.pos += is_negated
        items: list[Item] = []
        while not (self.looking_at("]") and items):
            if self.pos == len(self.text):
                raise InvalidRegex(NO_CLOSING_BRACKET)
            items.append(self.class_item())
        self.pos += 1
        return Characters(items, is_negated=is_negated, folds="i" in self.flags)

    def class_item(self) -> Item:
        if self.looking_at("[:") and self.pos < self.last_posix_end:
            return self.posix_class()
        if self.looking_at("\\") and self.pos + 1 < len(self.text):
            self.pos += 1
            escaped = self.class_escape()
            if escaped is not None:
                return escaped
            self.pos -= 1
        low = high = self.class_char()
        if self.looking_at("-") and not self.looking_at("-]"):
            self.pos += 1
            high = self.class_char()
        if high < low:
            raise InvalidRegex(BAD_RANGE)
        return Item(between(low + high))

    def posix_class(self) -> Item:
        end = self.text.index(":]", self.pos + 1)
        name = self.text[self.pos + 2 : end]
        pairs = POSIX.get(name.removeprefix("^"))
        if pairs is None:
            raise InvalidRegex(BAD_RANGE)
        self.pos = end + 2
        return Item(between(pairs), name.startswith("^"))

    def class_char(self) -> str:
        if self.pos == len(self.text):
            raise InvalidRegex(NO_CLOSING_BRACKET)
        char = self.take()
        if char != "\\":
            return char
        if self.pos == len(self.text):
            raise InvalidRegex(TRAILING_BACKSLASH)
        return chr(self.char_escape())


def _read_counts(found: re.Match[str]) -> tuple[int, int | None]:
    """{low}, {low,} or {low,high}. Raises InvalidRegex for counts that cannot be."""
    if any(len(digits or "") > _REPEAT_DIGITS_MAX for digits in (found[1], found[3])):
        raise InvalidRegex(BAD_REPEAT)
    low = int(found[1])
    high = low if found[2] is None else None if found[3] is None else int(found[3])
    if max(low, high or 0) > _REPEAT_MAX or (high is not None and high < low):
        raise InvalidRegex(BAD_REPEAT)
    return low, high
