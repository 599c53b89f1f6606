"""docs/versions.md, made from the tables: `python -m tests.docs.versions_page` writes it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from odradek.compat.cli.versions import changes, overview
from odradek.emulator.base.release import releases

from tests.releases.clients import read_table
from tests.releases.compared import read_table as compared

PAGE = Path(__file__).parents[2] / "docs" / "versions.md"
HEAD = """\
# Releases of Kafka

Odradek is Kafka 4.3 unless it is asked for another release: `Emulator(version="2.7")`,
`odradek serve --kafka-version 2.7`. A name such as "2.7.2" means its line. What a release has of
APIs, features and configs is what a running broker of that release has answered; what it does
otherwise is a list of capabilities, below as `yes` and `no`.

`odradek versions` prints the table, `odradek versions 2.7` one release, and
`odradek versions --from 2.7 --to 4.0` what changes between any two: what to read before an upgrade.

## Not as those releases

- What OffsetCommit v0 commits (ZooKeeper keeps it in 2.8 and before) is kept in memory, and a
  restart forgets it, unless there is a ZooKeeper beside the broker (`zookeeper=True`).
- Up to 2.0 Kafka takes any `message.format.version` for a topic, whose partitions then have no log:
  whoever produces or fetches has NOT_LEADER_FOR_PARTITION for ever. Here one that is no version is
  refused, as 2.4 and later do.
- 0.8.2 waits for as many replicas as `acks` says, and looks at the version of no request; here
  `acks` other than -1, 0 and 1 are refused, and versions that it does not have.
- Replicas may be assigned to brokers that do not exist, as such releases allow, and their
  partitions have no leader; but the answer does not wait for one.
- Releases whose metadata is with ZooKeeper keep it in a metadata log all the same, and answer for
  APIs between brokers, which they advertise, by closing the connection. A log directory of a real
  one is opened, with its ZooKeeper or without:
  [directories of brokers with ZooKeeper](files.md#directories-of-brokers-with-zookeeper).
- Where a broker of such a release fails by a defect of its own and never answers, there is an
  answer here: a leader that joins before v5 among static members (2.8 and before), OffsetFetch of
  no group (4.0 and before), AlterConfigs that names a resource twice (3.9 and before).
- A directory that was opened by a release with KRaft opens again with one before it, as long as
  `metadata.version` is not raised above 7: a real broker with ZooKeeper would not open it.
- `kafka.topic(...).produce(headers=...)` keeps no headers before 0.11, whose messages have none;
  and a rule on an API that a release lacks is set, and said at the end to have had no effect.
- Groups, transactions and the words of messages for people are those of 4.x in older releases, but
  for what the lists below name.

## All of them

"""
MIDDLE = """
`magic` are the formats of messages that are taken, `levels` those of `metadata.version`.

This page is made from the source by `python -m tests.docs.versions_page`; a test compares the two.
"""


CLIENTS = """
## Clients of many ages

A client produces three records, reads them, and reads them as a group that commits. `ok` is all of
it, `-` nothing; where a real broker of that release was asked the same and it went otherwise, its
result stands in brackets, and `?` where none was asked. `python -m tests.releases.clients --real
--write` makes the table.

"""


def clients_table() -> list[str]:
    """A row for each client, a column for each release."""
    seen = read_table()
    names = [each.name for each in releases()]
    rows = [["client", *names], ["---"] * (len(names) + 1)]
    for client in dict.fromkeys(key[0] for key in seen):
        cells = []
        for name in names:
            ours, real = (seen.get((client, name, where), "?") for where in ("ours", "real"))
            cells.append(ours if ours == real else f"{ours} ({real})")
        rows.append([client, *cells])
    return ["| " + " | ".join(row) + " |" for row in rows]


COMPARED = """
## Compared with real brokers

The same requests, drawn at random of every API that a release has, went to a real broker of it and
to Odradek, and every field of the answers was compared. `allowed` are differences of which the
engine says why they may be (`tests/differential/allowed/`); `unexplained` are sequences that ended
with another one, of so many kinds. Releases without a row were not compared so far. A row is made
by `python -m tests.differential --kafka-version 2.7 --drawn --requests 20000 --keep`.

"""


def compared_table() -> list[str]:
    """A row for each release that was compared."""
    rows = [["release", "requests", "fields", "allowed", "unexplained", "kinds"], ["---"] * 6]
    rows += [[str(each) for each in row] for row in compared().values()]
    return ["| " + " | ".join(row) + " |" for row in rows]


def page() -> str:
    lines = [HEAD + "```text", *overview(), "```", MIDDLE, CLIENTS.strip(), ""]
    lines += [*clients_table(), "", COMPARED.strip(), "", *compared_table(), ""]
    for newer, older in pairwise(releases()):
        lines += [f"## {older.name} to {newer.name}", "", "```text"]
        lines += [*changes(older, newer)[2:], "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
