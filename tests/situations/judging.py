"""Judging: what an application's story, and the log, come to, in the words of the table."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tests.situations.apps.app import ClientRaised
from tests.situations.stage import LIMIT_S, Sent, Story

RECOVERS = "recovers"


class Outcome(NamedTuple):
    """A run in words, and how long it took to be well again; None if it was not."""

    text: str
    seconds: float | None = None


def raised(error: ClientRaised) -> str:
    """As it stands in a cell."""
    return f"raises `{error.name}` to `{error.where}`"


def of_producer(story: Story, log: list[bytes]) -> Outcome:
    """Of a producer that has sent records one by one."""
    stored = Counter(log)
    parts: list[str] = []
    failed = [each for each in story.sent if each.raised is not None]
    for each in failed[:1]:
        assert each.raised is not None
        parts.append(raised(each.raised) + (", though it is stored" if stored[each.value] else ""))
    if failed:
        parts.append(_afterwards(story.sent, failed[0]))
    if any(not each.is_settled for each in story.sent):
        parts.append(f"still tries after {LIMIT_S:.0f} s")
    parts += _lost_and_doubled(story.sent, stored)
    if parts:
        return Outcome("; ".join(parts))
    return Outcome(RECOVERS, max(each.seconds for each in story.sent))


def _afterwards(sent: list[Sent], failed: Sent) -> str:
    later = sent[sent.index(failed) + 1 :]
    errors = [each.raised for each in later if each.raised is not None]
    if not errors:
        return "then goes on"
    assert failed.raised is not None
    name = "the same" if errors[0].name == failed.raised.name else f"`{errors[0].name}`"
    return f"{name} for the next record"


def _lost_and_doubled(sent: list[Sent], stored: Counter[bytes]) -> list[str]:
    settled = [each for each in sent if each.raised is None and each.is_settled]
    lost = sum(not stored[each.value] for each in settled)
    most = max((stored[each.value] for each in sent), default=0)
    parts = [f"**loses** {lost} of {len(settled)} acknowledged"] if lost else []
    if most > 1:
        parts.append(f"**duplicates**: stored {'twice' if most == 2 else f'{most} times'}")
    return parts


def of_transactions(story: Story, log: list[bytes], *, second_committed: bool) -> Outcome:
    """Of a producer that has done three transactions, the situation being in the second one.
    `log` is what readers of committed records find."""
    stored = Counter(log)
    parts: list[str] = []
    errors = [each.raised for each in story.sent if each.raised is not None] + story.raised
    if any(not each.is_settled for each in story.sent):
        parts.append(f"still tries after {LIMIT_S:.0f} s")
    if errors:
        parts.append(raised(errors[0]))
        if stored[b"after"]:
            parts.append("after an abort the next transaction works")
        else:
            last = errors[-1]
            more = "" if last.name == errors[0].name else f" (`{last.name}`)"
            parts.append(f"this producer is of no more use{more}")
    torn = {b"during", b"still during"} & set(stored)
    if second_committed and len(torn) < 2:
        parts.append("**loses** what was committed")
    if not second_committed and torn:
        parts.append("what it was told has failed is committed")
    if any(count > 1 for count in stored.values()):
        parts.append("**duplicates**")
    return Outcome("; ".join(parts)) if parts else Outcome(RECOVERS, story.seconds)


def of_consumer(story: Story, expected: list[bytes], skipped: int) -> Outcome:
    """Of a consumer that should have read these; so many has its group gone past, unread."""
    parts = [raised(story.raised[0])] if story.raised else []
    if len({each.name for each in story.raised}) > 1:
        others = dict.fromkeys(each.name for each in story.raised[1:])
        others.pop(story.raised[0].name, None)
        parts[0] += "".join(f", then `{name}`" for name in others)
    again = sum(count - 1 for count in Counter(story.read).values())
    missing = len(set(expected) - set(story.read))
    if skipped:
        parts.append(f"**skips** {skipped} of {len(expected)} unread")
    elif missing:
        number = "none" if missing == len(expected) else f"only {len(expected) - missing}"
        parts.append(f"has read {number} of {len(expected)} after {LIMIT_S:.0f} s")
    if again:
        parts.append(f"reads {again} again")
    if not missing and parts:
        parts.append("goes on")
    if parts:
        return Outcome("; ".join(parts), None if missing else story.seconds)
    return Outcome(RECOVERS, story.seconds)
