"""Which files of tests share a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scheduler import SHARED, _group

TESTS = Path(__file__).parent
FILES = {
    "clients/spark/test_batches.py": "spark",
    "compat/spark/source/test_batch.py": "spark",
    "compat/spark/pipeline/mirror/test_follow.py": "real Kafka",
    "clients/test_throttle_real.py": "real Kafka",
    "clients/test_proxy_cluster.py": "real cluster",
}


@pytest.mark.parametrize(("file", "group"), FILES.items())
def test_files_that_share_what_starts_slowly_share_a_process(file: str, group: str) -> None:
    assert _group(TESTS / file) == group
    assert group in SHARED


@pytest.mark.parametrize("file", ["differential/test_engine.py", "clients/test_rules.py"])
def test_other_files_go_anywhere(file: str) -> None:
    assert _group(TESTS / file) == str(TESTS / file)
