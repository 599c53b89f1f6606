"""Where the connector comes from, and what a session is given."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from odradek.compat import Unavailable
from odradek.compat.spark import connector, connector_jars, session
from odradek.compat.spark.connector import connector_settings, scala
from odradek.compat.spark.pipeline.engine import SparkEngine
from odradek.compat.spark.session import is_running, spark_session


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Maven, which finds all but what is missing: the calls of it."""
    calls: list[Any] = []

    def resolve(name: str, artifacts: list[str], *, exclude: list[str]) -> Path:
        calls.append((name, artifacts, exclude))
        first = artifacts[0].rpartition(":")[2]
        if first == "4.0.9" or (len(artifacts) > 1 and first != "4.0.6") or name == "spark-4.0.5":
            raise Unavailable("Maven could not resolve it: no spark-token-provider-kafka-0-10")
        if name == "spark-4.0.8":
            raise Unavailable("Maven could not resolve it: no spark-sql-kafka-0-10")
        (tmp_path / "connector.jar").touch()
        return tmp_path

    monkeypatch.setattr(connector, "resolve", resolve)
    return calls


def test_maven_resolves_the_connector_of_a_version(resolved: list[Any], tmp_path: Path) -> None:
    assert connector_settings("4.0.0") == {"spark.jars": str(tmp_path / "connector.jar")}
    ((name, artifacts, exclude),) = resolved
    assert name == "spark-4.0.0"
    assert artifacts == ["org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"]
    assert "org.apache.spark:spark-tags_2.13" in exclude
    connector_settings("3.5.0")
    assert resolved[1][1] == ["org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.0"]
    assert [scala(version) for version in ("3.5.9", "4.0.0", "4.2.0")] == ["2.12", "2.13", "2.13"]


def test_before_spark_4_the_server_of_connect_is_resolved_too(
    resolved: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connector_settings("4.0.0", with_connect=True)
    assert len(resolved) == 1
    found = connector_settings("3.5.0", with_connect=True)
    jar = str(tmp_path / "connector.jar")
    assert found == {"spark.jars": f"{jar},{jar}"}
    name, artifacts, exclude = resolved[-1]
    assert name == "spark-connect-3.5.0"
    assert (artifacts, exclude) == (["org.apache.spark:spark-connect_2.12:3.5.0"], ["*:*"])

    def missing(*args: Any, **more: Any) -> Path:
        raise Unavailable("no Maven")

    monkeypatch.setattr(connector, "resolve", missing)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    names = connector_settings("3.5.0", with_connect=True)["spark.jars.packages"].split(",")
    assert [name.split(":")[1] for name in names] == [
        "spark-sql-kafka-0-10_2.12",
        "spark-connect_2.12",
    ]


def test_a_token_provider_that_is_missing_has_its_place_taken(resolved: list[Any]) -> None:
    with pytest.warns(UserWarning, match=r"4\.0\.9: 4\.0\.6 takes its place"):
        connector_jars("4.0.9")
    assert [artifacts[0].rpartition(":")[2] for _, artifacts, _ in resolved] == [
        "4.0.9",
        "4.0.8",
        "4.0.7",
        "4.0.6",
    ]
    _, artifacts, exclude = resolved[-1]
    assert artifacts == [
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.6",
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.9",
    ]
    assert "org.apache.spark:spark-token-provider-kafka-0-10_2.13" in exclude


def test_a_connector_that_is_missing_has_its_place_taken(
    resolved: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    with pytest.warns(UserWarning, match=r"no Kafka connector of Spark 4\.0\.8: that of 4\.0\.7"):
        connector_jars("4.0.8")
    assert [name for name, _, _ in resolved] == ["spark-4.0.8", "spark-4.0.7"]


def missing(*args: Any, **more: Any) -> Path:
    raise Unavailable("Maven could not resolve it: no spark-sql-kafka-0-10")


def test_a_line_without_a_connector_says_which_pyspark_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(connector, "resolve", missing)
    with pytest.raises(Unavailable) as said:
        connector_jars("4.3.0")
    assert str(said.value).startswith(
        "there is no Kafka connector for pyspark 4.3.0: pip install 'pyspark==4.2.0' (or 4.1.3, "
    )
    # A session needs none for format("odradek"); what reads a broker says what is missing.
    with pytest.warns(UserWarning, match=r'Only format\("odradek"\) can be used'):
        settings = session.merged({})
    assert "spark.jars" not in settings
    with pytest.raises(Unavailable, match="pip install 'pyspark=="):
        session.check_connector()
    session._missing.clear()


def test_where_no_token_provider_of_the_line_is_there_that_is_said(resolved: list[Any]) -> None:
    with pytest.raises(Unavailable, match=r"no spark-token-provider-kafka-0-10"):
        connector_jars("4.0.5")
    assert len(resolved) == 6


def test_without_maven_spark_asks_ivy(resolved: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = {"spark.jars.packages": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.8"}
    assert connector_settings("4.0.8") == found
    # What was resolved before needs no Maven.
    assert list(connector_settings("4.0.0")) == ["spark.jars"]


@pytest.mark.spark
def test_a_session_that_runs_is_found_and_left_by_a_command(spark: Any) -> None:
    assert is_running()
    engine = SparkEngine({})
    assert engine.session is spark_session() or engine.session.sparkContext is spark.sparkContext
    engine.close()
    assert spark.range(3).count() == 3


@pytest.mark.spark
def test_settings_are_added_to_lists_and_replace_others(
    monkeypatch: pytest.MonkeyPatch, spark: Any
) -> None:
    """Of a running session only those of SQL change, so the builder is looked at."""
    given: dict[str, str] = {}
    from pyspark.sql import SparkSession

    monkeypatch.setattr(
        SparkSession.Builder,
        "config",
        lambda builder, name, value: given.update({name: value}) or builder,
    )
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda builder: spark)
    monkeypatch.setitem(os.environ, "SPARK_LOCAL_IP", "127.0.0.1")
    spark_session(spark_sql_shuffle_partitions="7", **{"spark.jars": "mine.jar"})
    assert given["spark.sql.shuffle.partitions"] == "7"
    assert given["spark.jars"].endswith(".jar,mine.jar")
    assert given["spark.master"] == "local[2]"
    given.clear()
    of_connect = {"spark.jars.packages": "a:b:1", "spark.sql.ansi.enabled": "false"}
    received = []
    monkeypatch.setattr(session, "connect_locally", lambda *arguments: received.append(arguments))
    monkeypatch.setattr(session, "connect", lambda *arguments: received.append(arguments))
    spark_session("tests", **{"spark.remote": "local[3]"}, **of_connect)
    spark_session("tests", **{"spark.remote": "sc://there:1"}, **of_connect)
    (_, master, settings), (_, url, asked) = received
    assert (master, url) == ("local[3]", "sc://there:1")
    assert settings["spark.jars.packages"] == "a:b:1"
    assert settings["spark.sql.session.timeZone"] == "UTC"
    assert asked == of_connect
    assert given == {}
