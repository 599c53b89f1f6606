"""The table of versions: rows that are made anew take the place of those of the same version."""

from __future__ import annotations

from tests.clients.spark.versions import merged, table

KNOWN = "| pyspark | Scala |\n| --- | --- |\n| 3.5.7 | old |\n| 4.10.0 | old |\n| 4.2.0 | old |\n"


def test_rows_of_other_versions_stay() -> None:
    new = "| pyspark | Java |\n| --- | --- |\n| 4.2.0 | new |\n| 4.1.3 | new |\n"
    assert merged(KNOWN, new).splitlines() == [
        "| pyspark | Java |",
        "| --- | --- |",
        "| 3.5.7 | old |",
        "| 4.1.3 | new |",
        "| 4.2.0 | new |",
        "| 4.10.0 | old |",
    ]


def test_what_the_command_prints_can_be_merged() -> None:
    row = {"version": "4.2.0", "jars": ["kafka-clients-3.9.2.jar"], "scala": "2.13"}
    groups = {"batches": {"of": 19, "failed": ["one"]}}
    text = table([{**row, "groups": groups}])
    assert merged("", text) == text
    assert "| 4.2.0 | 2.13 | 3.9.2 | 18 of 19 |  |" in text
