"""Both engines run the same tasks with the same results; the engine is chosen by size."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek.compat.spark.pipeline.command import add_engine_options, size
from odradek.compat.spark.pipeline.engine import (
    ArrowEngine,
    Engine,
    SparkEngine,
    choose,
    in_bytes,
    spark_settings,
)
from odradek.compat.spark.pipeline.errors import PipelineError

from tests.compat.spark.pipeline import tasks


@pytest.fixture(params=["arrow", pytest.param("spark", marks=pytest.mark.spark)], scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made: Engine = ArrowEngine(2) if request.param == "arrow" else SparkEngine({})
    yield made
    made.close()


def test_each_piece_has_its_result(engine: Engine) -> None:
    assert dict(engine.run(tasks.doubled, range(5))) == {0: 0, 1: 2, 2: 4, 3: 6, 4: 8}


def test_no_pieces_have_no_results(engine: Engine) -> None:
    assert list(engine.run(tasks.doubled, [])) == []


def test_tasks_run_elsewhere(engine: Engine) -> None:
    found = {process for _, process in engine.run(tasks.pid, range(4))}
    assert os.getpid() not in found


def test_what_a_task_prints_is_no_result(engine: Engine) -> None:
    assert dict(engine.run(tasks.printing, [7, 8])) == {0: 7, 1: 8}


def test_an_error_of_a_task_is_reported_in_its_words(engine: Engine) -> None:
    with pytest.raises(PipelineError, match=r"^the second piece is refused"):
        list(engine.run(tasks.refused, range(4)))


@pytest.mark.spark
def test_an_error_that_nobody_expects_is_one_line_on_spark_too() -> None:
    engine = SparkEngine({})
    with pytest.raises(PipelineError) as failed:
        list(engine.run(tasks.missing, [1]))
    engine.close()
    assert str(failed.value) == (
        "a task of Spark failed: FileNotFoundError: [Errno 2] No such file or directory: "
        "'/no/such/file'"
    )


def test_an_error_that_cannot_be_pickled_is_reported_all_the_same() -> None:
    with pytest.raises(PipelineError, match=r"^Needy\('cannot be'"):
        list(ArrowEngine(2).run(tasks.awkward, range(2)))


def test_processes_serve_one_run_after_the_other_and_end_with_the_engine() -> None:
    engine = ArrowEngine(2)
    first = {process for _, process in engine.run(tasks.pid, range(4))}
    assert {process for _, process in engine.run(tasks.pid, range(4))} <= first
    with pytest.raises(PipelineError):
        list(engine.run(tasks.refused, range(4)))
    assert not any(map(_is_alive, first))
    second = {process for _, process in engine.run(tasks.pid, range(4))}
    engine.close()
    assert not any(map(_is_alive, second))


def test_a_killed_process_is_an_error_rather_than_silence() -> None:
    with pytest.raises(PipelineError, match="piece 1 ended with status -9"):
        list(ArrowEngine(2).run(tasks.killed, range(4)))


def test_little_work_starts_no_process() -> None:
    assert dict(ArrowEngine(2).run(tasks.pid, range(2), 1000)) == dict.fromkeys([0, 1], os.getpid())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_command(tmp_path: Path, how: signal.Signals) -> None:
    paths = [str(tmp_path / name) for name in ("one", "two")]
    program = (
        "from odradek.compat.spark.pipeline.engine import ArrowEngine;"
        "from tests.compat.spark.pipeline import tasks;"
        f"list(ArrowEngine(2).run(tasks.slow, {paths}))"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    _until(lambda: all(os.path.exists(path) and Path(path).read_text() for path in paths))
    workers = [int(Path(path).read_text()) for path in paths]
    parent.send_signal(how)
    parent.wait(60)
    _until(lambda: not any(map(_is_alive, workers)))


def _until(is_so: object) -> None:
    assert callable(is_so)
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def options(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_engine_options(parser)
    return parser.parse_args(given)


def test_the_engine_is_chosen_by_size() -> None:
    assert choose(options("--engine-limit", "1k"), 1000).name == "arrow"
    assert choose(options("--engine-limit", "1k"), 1001).name == "spark"
    assert choose(options("--engine-limit", "1k", "--engine", "arrow"), 1001).name == "arrow"
    assert choose(options("--engine", "spark"), 0).name == "spark"


def test_without_spark_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        "odradek.compat.spark.pipeline.engine.find_spec",
        lambda name: None if name == "pyspark" else known(name),
    )
    assert choose(options(), 1000).name == "arrow"
    with pytest.raises(PipelineError) as refused:
        choose(options("--engine-limit", "1MB"), 2_500_000)
    assert str(refused.value) == (
        "about 2.5 MB are more than --engine-limit (1.0 MB), and pyspark is not installed: "
        "pip install 'odradek[spark]', or use --engine arrow"
    )
    with pytest.raises(PipelineError, match=r"pip install 'odradek\[spark\]'"):
        choose(options("--engine", "spark"), 0)


def test_options_become_settings_of_spark() -> None:
    given = ("--master", "spark://a:7077", "--packages", "a:b:1", "--packages", "c:d:2")
    found = spark_settings(options(*given, "--conf", "spark.executor.memory=4g"))
    assert found["spark.master"] == "spark://a:7077"
    assert found["spark.jars.packages"] == "a:b:1,c:d:2"
    assert found["spark.executor.memory"] == "4g"
    with pytest.raises(PipelineError, match="use --master"):
        spark_settings(options("--conf", "spark.remote=local"))


@pytest.mark.parametrize("master", ["sprak://x", "local[two]", "spark", "", "yarn-client"])
def test_a_master_that_is_none_is_refused(master: str) -> None:
    for given in (("--master", master), ("--conf", f"spark.master={master}")):
        with pytest.raises(PipelineError, match=f"^{re.escape(master)} is no master of Spark: "):
            choose(options("--engine", "spark", *given), 0)


@pytest.mark.parametrize(
    "master", ["local", "local[*]", "local[4, 2]", "local-cluster[1,1,1024]", "k8s://h", "yarn"]
)
def test_masters_of_spark_are_taken(master: str) -> None:
    assert spark_settings(options("--master", master))["spark.master"] == master


def test_a_session_that_does_not_start_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*given: object, **settings: str) -> None:
        raise RuntimeError("An error occurred while calling None.x.\n: o.a.S: no way\n\tat x.y")

    monkeypatch.setattr("odradek.compat.spark.session.spark_session", failing)
    with pytest.raises(PipelineError, match=r"^Spark cannot be started: o\.a\.S: no way$"):
        SparkEngine({}).start()


@pytest.mark.parametrize("runs", [False, True])
def test_a_session_is_stopped_by_who_has_started_it(
    runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[str] = []

    class Session:
        def stop(self) -> None:
            stopped.append("stopped")

    monkeypatch.setattr("odradek.compat.spark.session.is_running", lambda: runs)
    monkeypatch.setattr("odradek.compat.spark.session.spark_session", lambda *_, **__: Session())
    engine = SparkEngine({})
    engine.close()
    engine.start()
    engine.close()
    engine.close()
    assert stopped == ([] if runs else ["stopped"])


def test_sizes_are_read_and_written() -> None:
    assert [size(text) for text in ("1", "2k", "1.5MB", "3 GB", "1T")] == [
        1,
        2000,
        1_500_000,
        3 * 10**9,
        10**12,
    ]
    assert [in_bytes(number) for number in (1, 1500, 123_456_789, 2e12)] == [
        "1 B",
        "1.5 kB",
        "123 MB",
        "2000 GB",
    ]
    with pytest.raises(argparse.ArgumentTypeError, match="not a size"):
        size("many")
