"""Expressions to compare implementations by: such as are in order, and such as may not be."""

from __future__ import annotations

from hypothesis import strategies as st

ATOMS = r"""
    a b c - _ . [ab] [^a] \. ^ $ \b \B \A \z (?i:A) (?s:.) (?m:^) (?m:$) \w \d \S [[:alpha:]] [^\W-]
    \pL \p{Lu} \PN \Qa.b\E (?i:k) (?i:[^s]) (?:) x\x41 \101 é (?i:É) [a-c_]
"""
REPEATS = "* + ? {2} {1,3} {2,} {0,2} {3} {0} *? +? ?? {2,3}?"
PIECES = r"""
    a b 1 - ( ( ) ) (?: (?i) (?i: (?P<n> (?<m> (?P< (? [ [^ ] ^ $ . | | * + ? {2} {2,1} {1001} {,2}
    { } {1,2} \ \Q \E \b \C \d \pL \p{Lu} \p{X} \x41 \x{41} \x{ \1 \12 \8 \A \z \Z
    [:alpha:] [:x:] :] a-c - (?=a) (?s-i) (?-i: (?i-) (?) , é
"""
TEXTS = st.text("abcAkKs\u017f\u212a.-_1é\n", max_size=9)


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.tuples(inner, st.sampled_from(REPEATS.split())).map(lambda two: f"(?:{two[0]}){two[1]}"),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        inner.map(lambda one: f"({one})"),
    )


def expressions() -> st.SearchStrategy[str]:
    """Expressions that are in order."""
    return st.recursive(st.sampled_from(ATOMS.split()), _joined, max_leaves=10)


def pieced_together() -> st.SearchStrategy[str]:
    """Expressions of which many are not in order."""
    return st.lists(st.sampled_from(PIECES.split()), max_size=8).map("".join)
