"""Which characters a piece of an expression stands for: ranges, categories, scripts, other cases.

Nothing is listed beforehand: a character is looked at when it comes, and what was found is kept for
the next time. Sources: RE2's syntax page; Unicode's categories as Python knows them; for letters
with more than two cases, Unicode's CaseFolding.txt.

Differences that stay: a character's script is known by its Unicode name (GREEK SMALL LETTER ALPHA),
and RE2/J knows Unicode as of 2010.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

Test = Callable[[str], bool]

_KNOWN_MAX = 1000

# Groups of characters are written as pairs: the first and the last of a range.
PERL = {"d": "09", "s": "\t\n\f\r  ", "w": "09AZ__az"}
POSIX = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "ascii": "\x00\x7f",
    "blank": "\t\t  ",
    "cntrl": "\x00\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "word": "09AZ__az",
    "xdigit": "09AFaf",
}

_CATEGORIES = """
    C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So
    Z Zl Zp Zs
"""

# Scripts whose characters are named after them, and those with names of their own.
_SCRIPTS = """
    Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid
    Carian Cham Cherokee Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Ethiopic Georgian
    Glagolitic Gothic Gujarati Gurmukhi Hanunoo Hebrew Hiragana Imperial_Aramaic
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Kayah_Li Kharoshthi Khmer
    Lao Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian Myanmar
    New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya
    Phoenician Rejang Runic Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac
    Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh Ugaritic Vai
    Yi
"""
_NAMED_OTHERWISE = {
    "Canadian_Aboriginal": ("CANADIAN SYLLABICS",),
    "Egyptian_Hieroglyphs": ("EGYPTIAN HIEROGLYPH",),
    "Han": ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "CJK RADICAL", "KANGXI RADICAL"),
    "Hangul": ("HANGUL ", "HALFWIDTH HANGUL "),
    "Katakana": ("KATAKANA ", "HALFWIDTH KATAKANA "),
    "Latin": (
        "LATIN ",
        "FULLWIDTH LATIN ",
        "KELVIN SIGN",
        "ANGSTROM SIGN",
        "FEMININE ORD",
        "MASCULINE ORD",
    ),
    "Greek": ("GREEK ", "OHM SIGN"),
    "Phags_Pa": ("PHAGS-PA ",),
}

_PREFIXES = {
    name: (name.upper().replace("_", " ") + " ",) for name in _SCRIPTS.split()
} | _NAMED_OTHERWISE
_PREFIXES_OF_ANY = tuple(prefix for prefixes in _PREFIXES.values() for prefix in prefixes)

# Letters that are the same but for their case, where there are more than two or where Python's
# lower and upper case would lead elsewhere. Beyond the last of all RE2/J looks for no other case.
_ORBITS = (
    "Kk\u212a",
    "Ss\u017f",
    "\u00b5\u039c\u03bc",
    "\u00c5\u00e5\u212b",
    "\u00df\u1e9e",
    "\u0130",
    "\u0131",
    "\u01c4\u01c5\u01c6",
    "\u01c7\u01c8\u01c9",
    "\u01ca\u01cb\u01cc",
    "\u01f1\u01f2\u01f3",
    "\u0345\u0399\u03b9\u1fbe",
    "\u0392\u03b2\u03d0",
    "\u0395\u03b5\u03f5",
    "\u0398\u03b8\u03d1\u03f4",
    "\u039a\u03ba\u03f0",
    "\u03a0\u03c0\u03d6",
    "\u03a1\u03c1\u03f1",
    "\u03a3\u03c2\u03c3",
    "\u03a6\u03c6\u03d5",
    "\u03a9\u03c9\u2126",
    "\u0412\u0432\u1c80",
    "\u0414\u0434\u1c81",
    "\u041e\u043e\u1c82",
    "\u0421\u0441\u1c83",
    "\u0422\u0442\u1c84\u1c85",
    "\u042a\u044a\u1c86",
    "\u0462\u0463\u1c87",
    "\u1c88\ua64a\ua64b",
    "\u1e60\u1e61\u1e9b",
)
_ORBIT_OF = {char: orbit for orbit in _ORBITS for char in orbit}
_LAST_WITH_CASE = "\U0001044f"


class Item(NamedTuple):
    """Characters of which something is true, or all others."""

    test: Test
    is_negated: bool = False


class Characters:
    """All characters of some items, or all others. `folds`: of whatever case."""

    __slots__ = ("_folds", "_is_negated", "_items", "_known")

    def __init__(
        self, items: Sequence[Item], *, is_negated: bool = False, folds: bool = False
    ) -> None:
        self._items = items
        self._is_negated = is_negated
        self._folds = folds
        self._known: dict[str, bool] = {}

    def __contains__(self, char: str) -> bool:
        known = self._known.get(char)
        if known is None:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            known = self._known[char] = self._looked_up(char)
        return known

    def _looked_up(self, char: str) -> bool:
        cases = other_cases(char) if self._folds else char
        found = any(any(map(item.test, cases)) != item.is_negated for item in self._items)
        return found != self._is_negated


def other_cases(char: str) -> str:
    orbit = _ORBIT_OF.get(char)
    if orbit is not None:
        return orbit
    if char > _LAST_WITH_CASE:
        return char
    others = char.lower(), char.upper(), char.title()
    return "".join({char, *(other for other in others if len(other) == 1)})


def between(pairs: str) -> Test:
    """Whether a character is in one of these ranges, each written as its ends."""
    if len(pairs) == 2:
        low, high = pairs[0], pairs[1]
        return lambda char: low <= char <= high
    ranges = list(zip(pairs[::2], pairs[1::2], strict=True))
    return lambda char: any(low <= char <= high for low, high in ranges)


def unicode_class(name: str) -> Test | None:
    """Whether a character is of this category or script; None for a name that is not known."""
    if name == "Any":
        return lambda char: True
    if name in _CATEGORIES.split():
        return _category(name)
    if name in _PREFIXES:
        return _named(_PREFIXES[name])
    if name == "Inherited":
        return _is_inherited
    if name == "Common":
        return _is_common
    return None


def _category(name: str) -> Test:
    if name == "C":  # unassigned characters (Cn) are none
        return lambda char: unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")
    return lambda char: unicodedata.category(char).startswith(name)


def _named(prefixes: tuple[str, ...]) -> Test:
    return lambda char: unicodedata.name(char, "").startswith(prefixes)


def _is_inherited(char: str) -> bool:
    name = unicodedata.name(char, "")
    return unicodedata.category(char) in ("Mn", "Me") and not name.startswith(_PREFIXES_OF_ANY)


def _is_common(char: str) -> bool:
    """Of no script: digits, punctuation, symbols."""
    is_assigned = unicodedata.category(char) not in ("Cn", "Co", "Cs")
    is_of_script = unicodedata.name(char, "").startswith(_PREFIXES_OF_ANY)
    return is_assigned and not is_of_script and not _is_inherited(char)
