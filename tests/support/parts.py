"""What is too much for each run: `make test` carries out a part of it, another one each day, and
`make slow` all of it. So does every other run of pytest: without `--part` nothing is left out.

Stock clients, real brokers and Spark take their time for the same sentence in a hundred variants.
What is in the table varies in client, protocol, codec, or call; what is the only test of something
is in no table, and runs each time.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePath

import pytest

PARTS = {
    "tests/clients/share": 3,
    "tests/clients/spark": 4,
    "tests/clients/streams": 3,
    "tests/clients/test_admin_sweep.py": 4,
    "tests/clients/test_cluster_moves.py": 4,
    "tests/clients/test_cold_start.py": 3,
    "tests/clients/test_console_security_real.py": 3,
    "tests/clients/test_consumer_groups_real.py": 3,
    "tests/clients/test_directory_exchange.py": 2,
    "tests/clients/test_dump_tool.py": 3,
    "tests/clients/test_every_verb_real.py": 2,
    "tests/clients/test_group_chaos.py": 6,
    "tests/clients/test_kafka_tools.py": 4,
    "tests/clients/test_kill_under_load.py": 3,
    "tests/clients/test_logins.py": 3,
    "tests/clients/test_logins_alive.py": 3,
    "tests/clients/test_offsets_formatters.py": 2,
    "tests/clients/test_old_clients.py": 3,
    "tests/clients/test_old_segments.py": 3,
    "tests/clients/test_proxy_cluster.py": 3,
    "tests/clients/test_proxy_real.py": 4,
    "tests/clients/test_real_kafka.py": 3,
    "tests/clients/test_restarts.py": 3,
    "tests/clients/test_seen.py": 3,
    "tests/clients/test_three_brokers.py": 4,
    "tests/clients/test_transactions_java.py": 2,
    "tests/clients/test_transactions_killed.py": 2,
    "tests/cluster_chaos": 3,
    "tests/compat/real_kafka": 3,
    "tests/compat/spark": 5,
    "tests/differential/test_clusters.py": 3,
    "tests/differential/test_logins.py": 2,
    "tests/docs/test_site_built.py": 2,
    "tests/emulator/test_long_requests.py": 2,
    "tests/fixtures/simulation/test_search.py": 3,
    "tests/fixtures/test_parallel.py": 2,
    "tests/fuzz": 3,
    "tests/hostile/test_attacks.py": 3,
    "tests/package": 2,
    "tests/schedules": 3,
    "tests/schemas/test_recorded.py": 2,
    "tests/tape/test_live.py": 2,
}
"""Files and directories, and how many parts they have."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Of a run in parts: which one."""
    parser.addoption("--part", type=int, metavar="N", help="of what has parts, the Nth alone")


def parts_of(file: str) -> int:
    """How many parts a file of tests has: its own number, or its directory's."""
    places = [file, *map(str, PurePath(file).parents)]
    return next((PARTS[place] for place in places if place in PARTS), 1)


def chosen(tests: Sequence[str], parts: int, part: int) -> set[str]:
    """Those of a file's tests that are in a part: by their names, so that a new test moves no
    other; at least one, so that the file is imported each time."""
    found = {test for test in tests if zlib.crc32(test.encode()) % parts == part % parts}
    return found or {tests[part % len(tests)]}


@pytest.hookimpl(trylast=True)  # what has been left out before counts in no part
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is in other parts."""
    part = config.getoption("--part")
    if part is None:
        return
    files: dict[str, list[str]] = defaultdict(list)
    for item in items:
        files[item.nodeid.partition("::")[0]].append(item.nodeid)
    kept: set[str] = set()
    for file, tests in files.items():
        kept |= chosen(tests, parts_of(file), part)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


if __name__ == "__main__":  # for `make slow`
    print(*PARTS)
