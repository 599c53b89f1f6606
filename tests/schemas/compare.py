"""Drawn requests put to a real registry and to ours, and their answers compared.

    python -m tests.schemas.compare --real http://HOST:PORT --kind JSON --seed 1 --record

The real one is one of Confluent's that is empty, that nobody else uses, and that may change modes
(`mode.mutability=true`). What it answered is kept in tests/schemas/recorded, where
tests/schemas/test_recorded.py plays it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .draw import Ask, requests
from .serving import registry

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_PARSERS_WORDS = (400, 42201)
_REFUSED = "Invalid schema"
_TIMES = ("ts",)


class Answer(NamedTuple):
    status: int
    body: Any


def ask(url: str, asked: Ask) -> Answer:
    data = None if asked.body is None else json.dumps(asked.body).encode()
    request = Request(url + asked.path, data, {"Content-Type": CONTENT_TYPE}, method=asked.method)
    try:
        with urlopen(request, timeout=30) as answer:
            return Answer(answer.status, _read(answer.read()))
    except HTTPError as error:
        return Answer(error.code, _read(error.read()))


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode()


def comparable(answer: Answer) -> Answer:
    """The answer without times, and without the words of a parser."""
    return Answer(answer.status, _plain(answer.body))


def _plain(body: Any) -> Any:
    if isinstance(body, list):
        return [_plain(each) for each in body]
    if not isinstance(body, dict):
        return body
    made = {key: _plain(value) for key, value in body.items() if key not in _TIMES}
    if made.get("error_code") in _PARSERS_WORDS:
        made.pop("message", None)
    if "messages" in made:
        made["messages"] = [each.partition(_REFUSED)[1] or each for each in made["messages"]]
    return made


def is_allowed(asked: Ask, expected: Answer, found: Answer) -> bool:
    """What the real one does by mistake: it fails for the text of an id that there is not."""
    path = asked.path.partition("?")[0]
    is_text = path.startswith("/schemas/ids/") and path.endswith("/schema")
    return is_text and (expected.status, found.status) == (500, 404)


def differences(url: str, asked: Iterable[tuple[Ask, Answer]]) -> Iterator[str]:
    """Requests to which this registry answers something else, with both answers."""
    for number, (each, expected) in enumerate(asked):
        found = ask(url, each)
        is_same = comparable(found) == comparable(expected)
        if not is_same and not is_allowed(each, expected, found):
            yield f"{number}: {each}\n  real: {expected}\n  ours: {found}"


RECORDED = Path(__file__).parent / "recorded"


def path_of(kind: str, seed: int) -> Path:
    """The file of the answers to the requests of a seed."""
    return RECORDED / f"{kind.lower()}-{seed}.jsonl.gz"


def record(kind: str, seed: int, asked: list[tuple[Ask, Answer]]) -> None:
    """Keep the answers, without what differs from run to run."""
    lines = [json.dumps(comparable(answer), separators=(",", ":")) for _, answer in asked]
    text = "\n".join(lines) + "\n"
    path_of(kind, seed).write_bytes(gzip.compress(text.encode(), mtime=0))


def recorded(kind: str, seed: int) -> list[tuple[Ask, Answer]]:
    """The requests of a seed, with the answers that were kept."""
    lines = gzip.decompress(path_of(kind, seed).read_bytes()).decode().splitlines()
    answers = [Answer(*json.loads(line)) for line in lines]
    return list(zip(requests(seed, len(answers), kind), answers, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", required=True, metavar="URL")
    parser.add_argument("--kind", choices=("AVRO", "JSON", "PROTOBUF"), default="AVRO")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    drawn = requests(options.seed, options.requests, options.kind)
    asked = [(each, ask(options.real, each)) for each in drawn]
    if options.record:
        record(options.kind, options.seed, asked)
    with registry() as ours:
        found = list(differences(ours.url, asked))
    print("\n".join(found))
    print(f"{len(asked)} requests, {len(found)} answered otherwise")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
