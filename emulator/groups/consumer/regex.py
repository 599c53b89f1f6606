"""The regular expressions of a consumer group: which topics they match, and when that is computed.

Rules (semantics G23):
- An expression that is new to the group is checked (128) and resolved after the answer; until then
  it matches nothing. One that is resolved already counts at once.
- All expressions of a group are resolved together: if one is not resolved yet, if there are new
  topics since, or after `group.consumer.regex.refresh.interval.ms`; but not within ten seconds of
  the last time. The heartbeat of any member triggers it; groups/regex/lookup.py says how long it
  may take at a time.
- Expressions that nobody subscribes to any more are deleted.
- Topic names must match as a whole. Internal topics match like others.
"""

from __future__ import annotations

from enum import Enum, auto

from ....wire.errors import Error, Refused
from ..modern.group import Due
from ..records import MessageRecord
from ..regex.lookup import PAUSE_MS
from ..regex.re2 import InvalidRegex, compile_re2
from .group import ConsumerGroup
from .members import ConsumerMember, ResolvedRegex, regex_record, regex_tombstone

REFRESH_MIN_INTERVAL_MS = 10_000
METADATA_REFRESH_INTERVAL_MS = 600_000
REGEX_KEY = (Due.REGEX, "")


class RegexChange(Enum):
    """How a heartbeat changed the expression of its member."""

    NONE = auto()
    UNRESOLVED = auto()  # another expression, not resolved yet
    RESOLVED = auto()  # another one that is resolved, or none


class Subscriptions:
    """The subscriptions of a group's members after the change of one of them."""

    def __init__(self, group: ConsumerGroup, after: ConsumerMember) -> None:
        self._group = group
        self._after = after
        replaced = group.instance(after.instance_id)
        self._replaced = None if replaced is None else replaced.member_id

    def members(self) -> list[ConsumerMember]:
        """All members, with the one that changed, without the one whose instance it takes over."""
        others = [
            member
            for member in self._group
            if member.member_id not in (self._after.member_id, self._replaced)
        ]
        return [*others, self._after]

    def regexes(self) -> dict[str, ResolvedRegex]:
        wanted = {member.regex for member in self.members()}
        return {text: found for text, found in self._group.regexes.items() if text in wanted}

    def names(self) -> frozenset[str]:
        """All topics subscribed to, by name or by an expression that is resolved."""
        found = [member.names for member in self.members()]
        found += [resolved.topics for resolved in self.regexes().values()]
        return frozenset().union(*found)

    def homogeneous(self) -> bool:
        return self._group.subscribe_alike(self.members())


def update_regexes(
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    records: list[MessageRecord],
    now: int,
) -> RegexChange:
    """The effect of a member's change on the group's expressions; may schedule their resolution.
    Raises Refused(INVALID_REGULAR_EXPRESSION)."""
    counts = group.regex_counts()
    change, is_new = RegexChange.NONE, False
    if before.regex != after.regex:
        change = RegexChange.UNRESOLVED
        if before.regex and counts[before.regex] == 1:
            records.append(regex_tombstone(group.group_id, before.regex))
        if not after.regex or (counts[after.regex] and after.regex in group.regexes):
            change = RegexChange.RESOLVED
        elif not counts[after.regex]:
            check_regex(after.regex)
            is_new = True
    counts.subtract([text for text in (before.regex,) if text])
    counts.update([text for text in (after.regex,) if text])
    _maybe_resolve(group, {text for text, count in counts.items() if count > 0}, is_new, now)
    return change


def check_regex(regex: str) -> None:
    """Raises Refused(INVALID_REGULAR_EXPRESSION) with RE2/J's reason."""
    try:
        compile_re2(regex)
    except InvalidRegex as error:
        message = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}."
        raise Refused(Error.INVALID_REGULAR_EXPRESSION, message) from None


def _maybe_resolve(group: ConsumerGroup, wanted: set[str], is_new: bool, now: int) -> None:
    if not wanted or not (is_new or group.regex_counts()):
        return
    lookups = group.view.lookups
    if group.deadlines.get(REGEX_KEY) is not None:
        if lookups.stands_still(now):
            lookups.allow_slice()
            group.deadlines.set(REGEX_KEY, now)
        return
    last = next(iter(group.regexes.values()), None)
    if last is not None:
        if now <= last.timestamp + REFRESH_MIN_INTERVAL_MS:
            return
        is_new |= last.version < group.view.version_with_new_topics
        is_new |= now > last.timestamp + group.settings.consumer_regex_refresh_interval_ms
    if is_new or len(wanted) != len(group.regexes):
        group.wanted_regexes = frozenset(wanted)
        group.deadlines.set(REGEX_KEY, now)
        lookups.allow_slice()


def resolved(group: ConsumerGroup, now: int) -> list[MessageRecord]:
    """Resolve the group's expressions: their records, and that of the group's new epoch if anything
    changed. No records while the lookup is under way; then its deadline is set again."""
    counts = group.regex_counts()
    if group.lookup is None:
        wanted = [text for text in sorted(group.wanted_regexes) if counts[text]]
        group.lookup = group.view.lookups.new(wanted, group.view)
    looked_up = group.view.lookups.go_on(group.lookup, now)
    if looked_up is None:
        group.deadlines.set(REGEX_KEY, now + PAUSE_MS)
        return []
    group.lookup = None
    found = {text: names for text, names in looked_up.topics.items() if counts[text]}
    if group.sees is not None:
        found = {text: frozenset(filter(group.sees, names)) for text, names in found.items()}
    has_changed = False
    records = []
    for text in found:
        before = group.regexes.get(text)
        has_changed |= (before.topics if before else frozenset()) != found[text]
        new = ResolvedRegex(found[text], looked_up.version, now)
        records.append(regex_record(group.group_id, text, new))
    topics = {text: known.topics for text, known in group.regexes.items()} | found
    names = frozenset().union(*topics.values(), *(member.names for member in group))
    metadata_hash = group.view.hash_of(names)
    if has_changed or metadata_hash != group.metadata_hash:
        group.checked_topics = group.view.hashes_of(names)
        group.refresh_at = now + METADATA_REFRESH_INTERVAL_MS
        records += group.topics_records(names, metadata_hash)
        records.append(group.record(group.epoch + 1, metadata_hash))
    return records
