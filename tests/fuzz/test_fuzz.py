"""A short run finds nothing; and each kind of finding is found where there is something to find."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, write_request_header

from tests.fuzz.__main__ import main
from tests.fuzz.arena import Setup
from tests.fuzz.events import Case, Event, frames_in
from tests.fuzz.findings import Finding, found_in
from tests.fuzz.mutations import Mutations
from tests.fuzz.replay import replayed
from tests.fuzz.seeds import Source
from tests.fuzz.served import served_by
from tests.fuzz.shrink import fewer
from tests.requests.acls import describe_request
from tests.support.releases import RELEASES

BROKEN = "tests.fuzz.support.broken"
FRAMES = 2_000


def sent(*requests: Request) -> list[Event]:
    """Each in the first version that is served, in one write."""
    data = b""
    for number, request in enumerate(requests, 1):
        version = served_by("4.3").versions(type(request))[0]
        header = RequestHeader(request.api_key, version, number, "test")
        frame = write_request_header(header) + request.encode(version)
        data += SIZE.pack(len(frame)) + frame
    return [Event(1, "send", [data])]


ACLS = sent(describe_request(), ApiVersionsRequest())


def test_a_short_run_finds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--frames", str(FRAMES), "--seed", "13", "--found", str(tmp_path)])
    said = capsys.readouterr().out
    assert status == 0, said
    assert f"{FRAMES // 1000}," in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("fault", "kind", "place"),
    [
        ("raises", "failed", "broken.py"),
        ("job_fails", "failed", "broken.py"),
        ("task_fails", "failed", "broken.py"),
        ("hangs", "hang", f"API {DescribeAclsRequest.api_key}"),
        ("does_not_answer", "unanswered", f"API {DescribeAclsRequest.api_key}"),
        ("answers_too_much", "unasked", ""),
        ("dies", "died", "exit status 3"),
        ("hoards", "memory", ""),
        ("stalls", "polite", "waits"),
        ("lies", "polite", "AssertionError: assert beat.error_code == 0"),
        ("does_not_stop", "stop", "not ended by SIGTERM"),
        ("stops_badly", "stop", "exit status 1"),
        ("damages", "damaged", "files"),
        ("forgets", "restart", "AssertionError"),
        ("cannot_start_again", "restart", "does not start"),
    ],
)
def test_what_is_broken_is_found(
    fault: str, kind: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULT", fault)
    ends = kind in ("damaged", "restart")
    setup = Setup("4.3", memory_max_mb=200, hang_s=2.0, stop_s=3.0, ends=ends, module=BROKEN)
    seen = {(each.kind, each.place) for each in replayed(ACLS, setup)}
    assert any(each == kind and place in where for each, where in seen), seen


def test_a_finding_is_kept_shrunk_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAULT", "raises")
    options = ["--module", BROKEN, "--found", str(tmp_path)]
    assert main(["--frames", "2000", "--seed", "3", "--shrink-s", "10", *options]) == 1
    (path,) = tmp_path.glob("failed-*.json")
    case = Case.load(path)
    assert len(case.events) < 300
    frames = [frame for event in case.events for frame in frames_in(event.data)]
    assert DescribeAclsRequest.api_key in [int.from_bytes(frame[:2], "big") for frame in frames]
    assert main(["--replay", str(path), *options]) == 1
    assert "broken.py" in capsys.readouterr().out
    monkeypatch.setenv("FAULT", "lies")
    case.events = []
    assert main(["--replay", str(case.save(tmp_path)), "--module", "odradek.compat.cli"]) == 0


def test_of_many_events_those_are_left_that_matter() -> None:
    events = [Event(n, "send") for n in range(1000)]

    def shows(some: list[Event]) -> bool:
        return {17, 500, 503} <= {event.link for event in some}

    assert [event.link for event in fewer(events, shows, float("inf"))] == [17, 500, 503]
    assert fewer(events, lambda some: False, float("inf")) == events


def test_tracebacks_are_found_in_a_log() -> None:
    log = """closing <connection>: ProduceRequest v9 failed
Traceback (most recent call last):
  File "/a/serving.py", line 7, in _handle
    outcome = served.handler(cluster, call, request)
              ^^^^^^^^^^^^^^
  File "/a/produce.py", line 9, in produce
    raise ValueError("no")
ValueError: no
closing <connection>: frame of -1 bytes
Task was destroyed but it is pending!
a job failed
Traceback (most recent call last):
  File "/a/a.py", line 2, in outer
ValueError: cause

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/a/b.py", line 3, in inner
KeyError: 'x'
"""
    (first, second, third) = found_in(log)
    place = "serving.py:7 _handle > produce.py:9 produce: ValueError"
    assert first == Finding("failed", place, "\n".join(log.splitlines()[:8]))
    assert second.text == "Task was destroyed but it is pending!"
    assert third.place == "a.py:2 outer > b.py:3 inner: KeyError"
    assert "ValueError: cause" in third.text


@pytest.mark.parametrize("release", RELEASES)
def test_every_version_of_every_api_is_sent_and_mutated(release: str) -> None:
    served = served_by(release)
    source = Source(Random(1), served)
    mutations = Mutations(Random(2), source.recent, [api.api_key for api in served.ranges])
    pairs = {(api.api_key, v) for api in served.ranges for v in served.versions(api)}
    unseen, same = set(pairs), 0
    for number in range(40_000):
        world, steps = source.worlds[0], [next(source.every)]
        seed = source.seed(world, steps[0])
        frame = mutations.mutated(seed, number)
        same += frame[8:] == seed.frame[8:]
        unseen.discard((seed.request.api_key, seed.version))
        if not unseen:
            break
    assert unseen == set()
    assert same < number / 4
