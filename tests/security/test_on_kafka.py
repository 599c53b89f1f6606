"""The table asked of a real Kafka and of an Emulator, over connections on which users have logged
in: both answer the same."""

from __future__ import annotations

import re
from typing import Any

import pytest
from odradek.compat import Unavailable
from odradek.wire import NO_ID
from odradek.wire.api.metadata import MetadataRequest

from tests.differential.engine.asker import Asker
from tests.differential.engine.compare import Comparison
from tests.differential.engine.trees import plain
from tests.requests.topics import create_topics, new_topic

from .clients import ADMIN, create_request
from .secured import Secured, SecuredEmulator, SecuredKafka, until, wait_for_internal_topics
from .table import Case, cases, commit_of

_A_BROKER_OF_ITS_OWN = re.compile(
    r"topic_id|cluster_id|port$|host$|log_dir$|member_id|producer_id|controller_id"
    r"|(total|usable)_bytes"
)
"""Fields that differ between any two brokers."""
_RETRIED = (14, 15, 16, 51)
_CLUSTER_ID = re.compile(r'the cluster id ".*"')
_NEEDS = re.compile(r"Request Request\(.*\) needs ")


@pytest.mark.real
@pytest.mark.slow
def test_a_real_broker_answers_the_same() -> None:
    users = [*(case.user for case in cases()), ADMIN]
    real = SecuredKafka(users)
    try:
        real.start()
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    with real, SecuredEmulator(users) as ours:
        theirs, own = _answers(real), _answers(ours)
    received = []
    for case in cases():
        found = Comparison(theirs[case.number], own[case.number]).differences
        differences = [each for each in found if not _A_BROKER_OF_ITS_OWN.search(each.path)]
        received += [f"{case.name}: {each}" for each in differences]
    assert not received, "\n".join(received)


def _answers(broker: Secured) -> list[Any]:
    admin = broker.log_in(ADMIN)
    create_topics(admin, *(new_topic(f"t{case.number}") for case in cases() if case.has_topic))
    acls = [acl for case in cases() for acl in case.acls()]
    admin.ask(create_request(*acls), 3)
    broker.wait_for_acls(len(acls))
    wait_for_internal_topics(admin)
    topics = admin.ask(MetadataRequest(topics=None), 12).topics
    ids = {topic.name: topic.topic_id for topic in topics}
    for case in cases():
        if case.has_offsets:
            until(lambda: not _commit_error(admin, case))  # noqa: B023
    admin.close()
    return [_answer(broker, case, ids.get(f"t{case.number}", NO_ID)) for case in cases()]


def _commit_error(admin: Asker, case: Case) -> int:
    error: int = admin.ask(commit_of(case), 8).topics[0].partitions[0].error_code
    return error


def _answer(broker: Secured, case: Case, topic_id: bytes) -> Any:
    client = broker.log_in(case.user)
    request = case.row.request(case.about(topic_id))
    found: list[Any] = []

    def is_answered() -> bool:
        found[:] = [plain(client.ask(request, case.row.version), case.row.version)]
        return not any(f"error_code': {code}," in str(found) for code in _RETRIED)

    until(is_answered)
    client.close()
    return _mapped(found[0])


def _mapped(tree: Any) -> Any:
    """Without the connection that a real broker names in some of its sentences."""
    if isinstance(tree, dict):
        return {name: _mapped(each) for name, each in tree.items()}
    if isinstance(tree, list):
        return [_mapped(each) for each in tree]
    if not isinstance(tree, str):
        return tree
    return _CLUSTER_ID.sub("the cluster id", _NEEDS.sub("Request needs ", tree))
