"""Twenty questions that a Kafka engineer asks, ten of them about failures: what one types into the
search of the site, and the page that answers. `python -m tests.docs.site.questions SITE` prints how
each is found."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple
from urllib.parse import quote

from tests.fixtures.control.browser import Page, browser


class Question(NamedTuple):
    """What somebody wants to know, types, and should come to."""

    asked: str
    typed: str
    page: str


QUESTIONS = [
    Question(
        "The acknowledgement is lost: is the record stored twice?",
        "lost acknowledgement",
        "situations",
    ),
    Question(
        "My consumer is too slow for max.poll.interval.ms: what then?",
        "max.poll.interval.ms",
        "situations",
    ),
    Question("How do I answer NOT_LEADER_OR_FOLLOWER, twice?", "NOT_LEADER_OR_FOLLOWER", "faults"),
    Question("How do I fill the disk?", "disk full", "crashes"),
    Question("How do I cut one client off the network?", "network cut", "crashes"),
    Question("The leader dies: do acks=all records survive?", "kill leader", "brokers"),
    Question(
        "A transaction takes too long: which error comes?", "transaction timeout", "situations"
    ),
    Question(
        "The certificate has expired: does my client notice?", "expired certificate", "security"
    ),
    Question("The power goes: which records are left?", "power cut fsync", "files"),
    Question(
        "My application is killed anywhere: once, still?", "application killed", "applications"
    ),
    Question("Which versions of Fetch are served?", "api versions", "protocol"),
    Question("Is there something like kafka-topics.sh or kcat?", "kcat", "shell"),
    Question("Is KIP-848 there?", "KIP-848", "kips"),
    Question("We use EmbeddedKafka with JUnit: what now?", "EmbeddedKafka", "coming-from"),
    Question("How do I skip seven days of retention?", "advance clock days", "testing"),
    Question("Can a real Kafka read its directory?", "data directory real Kafka", "files"),
    Question("Does the registry check BACKWARD compatibility?", "schema compatibility", "schemas"),
    Question("Do my tests run against a real cluster, too?", "kafka-bootstrap", "testing"),
    Question("Is replication real?", "replication differs", "differences"),
    Question("How fast is it, beside Kafka?", "how fast", "speed"),
]
MOST = 5
"""The page is among so many results."""


class Found(NamedTuple):
    """Where the page stands among the results, from 1 on; 0 if it is none. Seconds until then."""

    place: int
    seconds: float
    results: list[str]


def found_by(page: Page, site: Path, question: Question) -> Found:
    """Ask the site's own search."""
    begin = perf_counter()
    page.go(f"{(site / 'search.html').as_uri()}?q={quote(question.typed)}")
    page.wait_for("#search-results p.search-summary:text-matches('finished|not match')")
    links: list[str] = page.ask(
        "[...document.querySelectorAll('#search-results ul.search li > a')].map(a => a.href)"
    )
    names = list(dict.fromkeys(re.sub(r"\.html.*", "", each.rpartition("/")[2]) for each in links))
    place = names.index(question.page) + 1 if question.page in names else 0
    return Found(place, perf_counter() - begin, names)


def answers(site: Path) -> Iterator[tuple[Question, Found]]:
    """Of all questions, by a browser. Raises Unavailable where there is none."""
    with browser() as page:
        for question in QUESTIONS:
            yield question, found_by(page, site, question)


if __name__ == "__main__":
    for asked, answer in answers(Path(sys.argv[1]).resolve()):
        row = [asked.asked, asked.typed, asked.page, str(answer.place), f"{answer.seconds:.2f} s"]
        print(f"| {' | '.join(row)} |", answer.results[:6] if answer.place not in (1, 2, 3) else "")
