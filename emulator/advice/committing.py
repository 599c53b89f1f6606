"""Rules about commits: too many, of the wrong offset, too early, too late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ..base.event import Event
from ..base.sentences import IN_A_TRANSACTION
from ..base.words import lasted, number_of
from .advice import Advice
from .seen import Commits, Place, Seen, client_of

MANY_COMMITS = 10
"""One by one: a test that reads three records may commit each."""
A_POLL = 500
"""Records that a poll returns at most, unless max.poll.records says something else."""
_ENOUGH = 3
_POLLS_EACH = "librdkafka"  # whose consumers poll each record


def commits_of_each_record(seen: Seen) -> Iterator[Advice]:
    """Ten commits or more, each one record further (two offsets, where a transaction's end lies
    between), of records that came in few answers. Silent where each answer brought one record: then
    a commit after each poll is right."""
    groups: dict[tuple[str, str], list[Commits]] = defaultdict(list)
    for each in seen.commits:
        groups[each.client, each.group].append(each)
    for (client, group), commits in groups.items():
        steps, answers, topics = 0, 0, dict.fromkeys(each.place[0] for each in commits)
        for each in commits:
            offsets = each.last - each.first + 1
            own = min(each.count, offsets)
            if offsets <= 2 * own:
                steps += own
                answers += sum(fetch.count for fetch in seen.fetches(client, each.place))
        if steps < MANY_COMMITS or steps < 2 * answers:
            continue
        names = " and ".join(topics)
        yield Advice(
            "commits of each record",
            f"{client} commits each record of {names} by itself: {steps} commits of one record "
            f"each in group {group}",
            "commit once for each batch that poll returns, or let enable.auto.commit=true do it",
            client=client,
            topic=next(iter(topics)),
            group=group,
        )


def last_read_offset(seen: Seen) -> Iterator[Advice]:
    """The offsets of records that were read are committed, and not those after them: one by one
    from the first on, or at the end of three partitions. Silent where transactions are written,
    and where it may be chance: an application that has failed at its last record commits so."""
    transactional = seen.in_transactions()
    at_ends: dict[tuple[str, str], list[Commits]] = defaultdict(list)
    for commits in seen.commits:
        fetches = seen.fetches(commits.client, commits.place)
        if not fetches or commits.place in transactional:
            continue
        first = min(each.first_offset for each in fetches)
        if commits.last != max(each.last_offset for each in fetches):
            continue
        found = at_ends[commits.client, commits.group]
        found += [commits] * (_ENOUGH if _one_by_one(commits, first) else 1)
    for (client, group), ends in at_ends.items():
        if len(ends) < _ENOUGH:
            continue
        topic, partition = ends[0].place
        yield Advice(
            "last read offset",
            f"{client} commits in group {group} the offset of the last record that it has read "
            f"({ends[0].last} of {topic}-{partition}), and so reads that one again when it starts",
            "commit the next offset, that of the record + 1",
            client=client,
            topic=topic,
            group=group,
        )


def _one_by_one(commits: Commits, first_read: int) -> bool:
    return commits.first == first_read and commits.last - commits.first + 1 >= _ENOUGH


def committed_before_output(seen: Seen) -> Iterator[Advice]:
    """What a group has read is committed first, and only then written to another topic: about as
    many records, in turns, the first commit before the first record and the last one before the
    last. Silent for transactions, and where an output of any group comes first."""
    groups = {each.group for each in seen.commits}
    outputs = list(_outputs(seen))
    turns = [(group, out, _turn(seen, group, out)) for group in groups for out in outputs]
    right_groups = {group for group, _, turn in turns if turn == "output first"}
    right_outputs = {out.topic for _, out, turn in turns if turn == "output first"}
    for group, out, turn in turns:
        if turn != "commit first" or group in right_groups or out.topic in right_outputs:
            continue
        commits = next(each for each in seen.commits if each.group == group)
        yield Advice(
            "committed before output",
            f"group {group} commits what it has read of {commits.place[0]} before {out.client} has "
            f"written the output to {out.topic}: what fails in between is lost",
            "commit after the output is acknowledged (producer.flush()), or in its transaction",
            client=commits.client,
            topic=commits.place[0],
            group=group,
        )


class _Output:
    """What was written to a topic: how much, and from when to when."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.client = ""
        self.count = 0
        self.events: list[Event] = []

    def add(self, event: Event) -> None:
        self.client = event.client
        self.count += event.last_offset - event.first_offset + 1
        self.events.append(event)


def _outputs(seen: Seen) -> Iterable[_Output]:
    outputs: dict[str, _Output] = {}
    for each in seen.of("appended"):
        outputs.setdefault(each.topic, _Output(each.topic)).add(each)
    for output in outputs.values():
        if all(each.reason != IN_A_TRANSACTION for each in output.events):
            yield output


def _turn(seen: Seen, group: str, out: _Output) -> str:
    """Which comes first, "" if they do not take turns."""
    commits = [each for each in seen.commits if each.group == group]
    if any(each.place[0] == out.topic for each in commits):
        return ""
    read = 0
    for each in commits:
        fetches = seen.fetches(each.client, each.place)
        first = min((fetch.first_offset for fetch in fetches), default=each.last)
        if each.events[0].first_offset <= first:
            return ""  # of nothing that it has read: it commits where it begins
        read += each.last - first
    if not 0.5 * out.count <= read <= 2 * out.count:
        return ""
    begin = min(each.events[0].elapsed for each in commits)
    end = max(each.events[-1].until for each in commits)
    first_out, last_out = out.events[0].elapsed, max(each.until for each in out.events)
    if begin < first_out < end < last_out:
        return "commit first"
    read_from = min(e.elapsed for c in commits for e in seen.fetches(c.client, c.place))
    return "output first" if read_from < first_out < begin and last_out < end else ""


def slow_work(seen: Seen) -> Iterator[Advice]:
    """A consumer needs so long for a record that a full poll outlasts its max.poll.interval.ms: by
    five commits or more of records that were all there before; or it has left for that."""
    for each in seen.of("left"):
        words = each.reason.lower()
        if "poll" in words and ("timeout" in words or "interval" in words or "exceed" in words):
            yield _slow(each.client, each.group, "", f"has left: {each.reason.rstrip('.')}")
    intervals = {
        (each.client, each.group): each.details["max_poll_interval_ms"] / 1000
        for each in seen.of("joined")
        if each.details.get("max_poll_interval_ms", -1) > 0
    }
    for commits in seen.commits:
        interval = intervals.get((commits.client, commits.group))
        fetches = seen.fetches(commits.client, commits.place)
        records, seconds = commits.last - commits.first, commits.seconds
        was_there = fetches and max(e.until for e in fetches) <= commits.events[0].elapsed
        if interval is None or not was_there or records < 4 or commits.count < 4:
            continue
        whole = seconds / records * A_POLL
        if whole > interval and not _polls_each(seen, commits.client):
            yield _slow(
                commits.client,
                commits.group,
                commits.place[0],
                f"needs {lasted(seconds / records)} for a record of {commits.place[0]}: a poll of "
                f"{number_of(A_POLL, 'record')} outlasts its max.poll.interval.ms of "
                f"{interval:g} s, and it is put out of the group",
            )


def _polls_each(seen: Seen, client: str) -> bool:
    name = client_of(client)
    met = [each for each in seen.of("connected") if each.client == name]
    return any(_POLLS_EACH in each.details.get("software", "") for each in met)


def _slow(client: str, group: str, topic: str, what: str) -> Advice:
    return Advice(
        "slow work",
        f"{client} in group {group} {what}",
        "lower max.poll.records, or raise max.poll.interval.ms",
        client=client,
        topic=topic,
        group=group,
    )


def read_again(seen: Seen) -> Iterator[Advice]:
    """A group has begun three times at the same offset, read from there on, and got no further: a
    member was gone each time; or it has read the same twenty times. Silent after a commit, where a
    rule of the test changed what was read, and for twenty times if several have one client id."""
    begins: dict[tuple[str, Place], _Begins] = {}
    changed = {each.client for each in seen.of("rule") if each.api == "Fetch"}
    for each in seen.events:
        key = each.group, (each.topic, each.partition)
        if each.kind in ("found offset", "found no offset"):
            begins.setdefault(key, _Begins()).found(each)
        elif each.kind == "committed" and key in begins:
            begins[key].committed(each.last_offset)
        elif each.kind == "fetched":
            for (_, place), begin in begins.items():
                if place == key[1]:
                    begin.fetched(each)
        elif each.kind in ("left", "kicked", "session timed out", "left behind", "closed"):
            for (group, _), begin in begins.items():
                if each.group in ("", group):
                    begin.gone(each)
    told = set()
    for (group, (topic, partition)), begin in begins.items():
        times = begin.times(any(group != other for other, _ in begins))
        if times and begin.client not in changed and (group, topic) not in told:
            told.add((group, topic))
            yield Advice(
                "read again and again",
                f"group {group} has read offset {begin.at} of {topic}-{partition} {times} times, "
                "and has committed nothing behind it: a record at which it fails each time, or "
                "nobody commits",
                "look at that record, send what cannot be processed to a dead-letter topic, and "
                "commit what is done",
                client=begin.client,
                topic=topic,
                group=group,
            )


class _Begins:
    """How often a group began to read a partition at one offset."""

    MANY = 20

    def __init__(self) -> None:
        self.at = -1
        self.client = ""
        self._count = 0
        self._most = 0
        self._awaits_fetch = False
        self._is_gone = True

    def found(self, event: Event) -> None:
        """It was told where to begin."""
        self.client = client_of(event.client)
        self._awaits_fetch = self._is_gone
        if event.last_offset >= 0 and event.last_offset != self.at:
            self.at, self._count, self._most = event.last_offset, 0, 0

    def fetched(self, event: Event) -> None:
        """Somebody got records."""
        if event.client != self.client:
            return
        if self.at < 0:
            self.at = event.first_offset
        offsets = max(event.last_offset - event.first_offset + 1, 1)
        if event.first_offset == self.at and event.count >= max(self.MANY, 3 * offsets):
            self._most = max(self._most, event.count // offsets)
        if self._awaits_fetch and event.first_offset == self.at:
            self._awaits_fetch = self._is_gone = False
            self._count += 1

    def committed(self, offset: int) -> None:
        """The group has got further, or has not."""
        if offset > self.at:
            self.at, self._count, self._most = offset, 0, 0

    def gone(self, event: Event) -> None:
        """A member is gone, or a client."""
        self._is_gone = self._is_gone or bool(event.group) or event.client == self.client

    def times(self, has_others: bool) -> int:
        """How often it has read the same, 0 if that is nothing to speak of."""
        if self._count >= _ENOUGH:
            return self._count
        return 0 if has_others else self._most
