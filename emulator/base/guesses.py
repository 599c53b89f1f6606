"""Names that people type first, of other tools or by analogy, and what they are called here.

A class of the test kit inherits `Guessable` (words.py); an attribute that it lacks is then refused
with the name that is meant: by the table, or else the nearest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# A line a name: what is meant, and the guesses for it. Under the classes that have it.
_TABLE = """
Emulator RemoteKafka
    bootstrap_servers: address addresses url servers bootstrap bootstrap_server brokers_url hosts
    create_topic: create_topics new_topic add_topic make_topic
    delete_topic: delete_topics remove_topic drop_topic
    topics(): list_topics topic_names
    groups(): list_groups consumer_groups group_ids
    group("..."): consumer_group get_group
    group("...").delete(): delete_group delete_groups delete_consumer_group remove_group
    topic("..."): get_topic
    topic("...").produce(...): produce send publish producer get_producer put
    topic("...").records(): consume messages records read fetch poll consumer get_consumer
    client_config("..."): config_for consumer_config producer_config settings
    set_config({...}): config configs configure alter_config
    on("Produce").fail(...): fail inject fault add_rule when expect inject_error
    network.down(): unavailable outage disconnect
    paused(): pause freeze freeze_time stop_clock resume
    advance(seconds=...): sleep tick shift forward advance_time move_time fast_forward
    now: time
    events: log logs history
    journal: requests calls received
    stop(): close shutdown terminate
    start(): ready wait_ready up run_forever
    brokers[1].stop(): stop_broker shutdown_broker
    brokers[1].kill(): kill_broker crash_broker
    brokers[1].start(): start_broker restart_broker
    topic("...").wait_for(...): wait_for wait_until wait_for_message wait_for_records
    topic("...").assert_produced(...): assert_produced assert_contains assert_received
    on("Produce"): on_produce on_request
    on("Produce").fail(...): fail_produce fail_next
    reset(): clear clean
TopicView PartitionView
    produce(...): send publish put append add write
    records(): messages consume read fetch poll all get
    values(): payloads bodies
    wait_for(...): wait_until wait wait_for_message wait_for_records wait_for_messages
    assert_nothing_produced(...): assert_not_produced assert_no_records assert_no_messages
    assert_produced(...): assert_contains assert_has assert_record assert_message assert_received
    assert_produced(times=...): assert_count assert_called_once assert_called
    len(topic.records()): count record_count length
    records()[0]: first first_record
    empty(): clear purge flush delete_records reset
TopicView
    topic[0]: partition partitions get_partition
    topic[0].log_end_offset: end_offset end_offsets offsets latest_offset
    topic[0].high_watermark: high_watermark
    produce_all([...]): send_all produce_many extend
    set_config({...}): config configs configure alter_config
GroupView ShareGroupView StreamsGroupView
    lag(): assert_lag get_lag total_lag consumer_lag
    wait_stable(): wait_ready wait_joined wait_members wait_for_members wait_rebalanced wait_until
    members: consumers member_count
GroupView StreamsGroupView
    wait_consumed(): wait_lag wait_for_lag wait_caught_up wait_until_consumed wait_for
    offsets(): positions committed_offsets get_offsets
GroupView
    reset(...): seek reset_offsets set_offsets seek_to_beginning
    assert_committed({...}): assert_offsets assert_consumed
    kick(...): remove remove_member evict
ShareGroupView
    wait_acknowledged(): wait_consumed wait_for
RuleBuilder
    fail(error): error raises raise_ throw return_error reject
    drop_request(): drop ignore swallow lose
    drop_reply(): timeout no_response no_reply
    delay(seconds): slow sleep wait latency
    disconnect(): close reset
    hold(): block pause stop
    answer(function): respond reply return_ returns
    edit(function): modify change alter
    call(function): do run then
    once(): first one_time
    times(n): twice count repeat
Network
    cut_off(client_id=...): partition isolate split
    latency(seconds): slow delay lag
    bandwidth(bytes_per_s): throttle rate
    reset(): disconnect drop close
    down(): unavailable disable stop fail block
    heal(): up restore enable
Disk
    full(): fill fill_up out_of_space no_space
    on("append").fail(): fail error break_
    on("append").delay(seconds): slow delay latency
    on("append").torn(): corrupt tear
    heal(): restore repair
"""


_WHOLE = re.compile(r"len\(|topic\[")
"""Words that are no attribute."""


@cache
def meant() -> dict[str, dict[str, str]]:
    """By the name of a class: guess to what is meant."""
    found: dict[str, dict[str, str]] = {}
    classes: list[str] = []
    for line in _TABLE.strip().splitlines():
        if not line.startswith(" "):
            classes = line.split()
            continue
        name, _, guesses = line.strip().rpartition(": ")
        for each in classes:
            found.setdefault(each, {}).update(dict.fromkeys(guesses.split(), name))
    return found


def missing(kind: type, name: str) -> AttributeError:
    """The error for an attribute that a class lacks."""
    text = f"{kind.__name__} has no attribute {name!r}"
    if not name.startswith("_"):
        nearest = [each if _WHOLE.match(each) else f".{each}" for each in _nearest(kind, name)]
        text += "".join(f"; use {each}" for each in nearest)
    return AttributeError(text, name=name)


def _nearest(kind: type, name: str) -> Iterator[str]:
    from difflib import get_close_matches

    for each in kind.__mro__:
        if guess := meant().get(each.__name__, {}).get(name):
            yield guess
            return
    public = [each for each in dir(kind) if not each.startswith("_")]
    yield from get_close_matches(name, public, 1)
