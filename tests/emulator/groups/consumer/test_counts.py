"""What a consumer group counts as it goes is what one would find by looking at every member."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.groups.consumer.group import ConsumerGroup
from odradek.emulator.groups.consumer.members import (
    RECORDS,
    ConsumerMember,
    ResolvedRegex,
    regex_record,
    regex_tombstone,
)
from odradek.emulator.groups.settings import GroupSettings
from odradek.emulator.groups.topics_view import NoTopics, TopicsView

MEMBERS, TOPICS, EXPRESSIONS = st.sampled_from("abc"), st.sampled_from("tu"), ["", "t.*", "u.*"]
PUT = st.tuples(MEMBERS, st.frozensets(TOPICS), st.sampled_from(EXPRESSIONS))
RESOLVE = st.tuples(st.sampled_from(EXPRESSIONS[1:]), st.none() | st.frozensets(TOPICS))


@given(st.lists(st.one_of(PUT, MEMBERS, RESOLVE), max_size=30), st.booleans())
def test_counts_follow_every_change(
    steps: list[Any],
    is_asked: bool,
) -> None:
    group = ConsumerGroup("g", GroupSettings(), TopicsView(NoTopics(), lambda: 0))
    alike = True
    for step in steps:
        if len(step) == 2:
            regex, topics = step
            found = None if topics is None else ResolvedRegex(topics, 1, 1)
            group.apply(
                regex_tombstone("g", regex) if found is None else regex_record("g", regex, found),
                0,
            )
        else:
            if isinstance(step, tuple):
                member = ConsumerMember(step[0], names=step[1], regex=step[2])
                records = [RECORDS.member_record("g", member)]
                changes = True
            else:
                records = RECORDS.member_tombstones("g", step)
                changes = step in group.members
            for record in records:
                group.apply(record, 0)
            if changes:  # a change of what an expression matches does not count until then
                alike = group.subscribe_alike(group.members.values())
        if is_asked:
            assert group.is_homogeneous == alike
        wanted = Counter(member.regex for member in group if member.regex)
        assert group.regex_counts() == wanted
        assert bool(group.regex_counts()) == bool(wanted)
    assert group.is_homogeneous == alike
