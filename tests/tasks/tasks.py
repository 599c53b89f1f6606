"""The twenty tasks, and what one types for each with each tool.

`$B` is the broker's address; `odradek` has it from ODRADEK_BOOTSTRAP. Lines are for bash.
"""

from __future__ import annotations

from typing import NamedTuple

ODRADEK, KCAT, SCRIPTS = "odradek", "kcat", "Kafka's scripts"
TOOLS = (ODRADEK, KCAT, SCRIPTS)


class Task(NamedTuple):
    """A task, and the commands of each tool: none where it cannot do it."""

    name: str
    odradek: tuple[str, ...]
    kcat: tuple[str, ...]
    scripts: tuple[str, ...]
    shows: str = ""
    """A regular expression of what each tool prints."""
    but: str = ""
    """What another tool does not do of it."""

    def commands(self, tool: str) -> tuple[str, ...]:
        """What one types with a tool."""
        return {ODRADEK: self.odradek, KCAT: self.kcat, SCRIPTS: self.scripts}[tool]


_CONSUME = "kafka-console-consumer.sh --bootstrap-server $B --topic payments"
_WITH_KEYS = "--formatter-property print.key=true"
_GROUPS = "kafka-consumer-groups.sh --bootstrap-server $B"
_TOPICS = "kafka-topics.sh --bootstrap-server $B"
_KCAT = "kcat -q -C -b $B -t payments"
_DELETE = '{"partitions": [{"topic": "payments", "partition": 0, "offset": 100}], "version": 1}'

TASKS = (
    Task(
        "Create a topic with three partitions, kept for a week",
        ("odradek topics create payments -p 3 --config retention.ms=604800000",),
        (),
        (f"{_TOPICS} --create --topic payments --partitions 3 --config retention.ms=604800000",),
    ),
    Task(
        "Produce a JSON value with a key and a header",
        ("echo '{\"id\": 0}' | odradek produce payments --key 42 --header source=web",),
        ("echo '{\"id\": 0}' | kcat -P -b $B -t payments -k 42 -H source=web",),
        (
            "printf 'source:web\\t42\\t{\"id\": 0}\\n' | kafka-console-producer.sh "
            "--bootstrap-server $B --topic payments --reader-property parse.key=true "
            "--reader-property parse.headers=true",
        ),
    ),
    Task(
        "Produce a thousand records of test data",
        (
            "odradek produce payments --key '{seq}' "
            '--generate 1000 \'{"id": {seq}, "city": {choice:Oslo|Bergen}}\'',
        ),
        (
            """seq 0 999 | sed 's/.*/&:{"id": &, "city": "Oslo"}/' |"""
            " kcat -P -b $B -t payments -K :",
        ),
        (
            """seq 0 999 | sed 's/.*/&:{"id": &, "city": "Oslo"}/' |"""
            " kafka-console-producer.sh --bootstrap-server $B --topic payments"
            " --reader-property parse.key=true --reader-property key.separator=:",
        ),
    ),
    Task(
        "Read the last ten records of a partition",
        ("odradek consume payments -p 0 --from -10",),
        (f"{_KCAT} -p 0 -o -10 -e",),
        (
            "END=$(kafka-get-offsets.sh --bootstrap-server $B --topic payments --partitions 0 "
            "| cut -d: -f3); echo $END > end",
            f"{_CONSUME} --partition 0 --offset $(($(cat end) - 10)) --max-messages 10",
        ),
        shows="city",
    ),
    Task(
        "Find a record by its key",
        ("odradek consume payments --key '^42$'",),
        (f"{_KCAT} -e -f '%k %s\\n' | grep '^42 '",),
        (f"{_CONSUME} --from-beginning {_WITH_KEYS} --timeout-ms 5000 | grep -P '^42\\t'",),
        shows="42",
    ),
    Task(
        "Find records by a field of their JSON",
        ("odradek consume payments --where .id=7",),
        (f"""{_KCAT} -e | grep '"id": 7,'""",),
        (f"""{_CONSUME} --from-beginning --timeout-ms 5000 | grep '"id": 7,'""",),
        shows='"id": 7,',
        but="the others search text",
    ),
    Task(
        "Read what came in the last hour",
        ("odradek consume payments --from 1h",),
        (f"{_KCAT} -e -o s@$((($(date +%s) - 3600) * 1000))",),
        (
            f"{_GROUPS} --group again --topic payments --reset-offsets --execute "
            "--to-datetime $(date -u -d '1 hour ago' +%Y-%m-%dT%H:%M:%S.000)",
            f"{_CONSUME} --group again --timeout-ms 5000",
        ),
        shows='"id": 999',
    ),
    Task(
        "Watch a topic: three records as they come",
        ("odradek consume payments --follow -n 3",),
        (f"{_KCAT} -c 3",),
        (f"{_CONSUME} --from-beginning --max-messages 3",),
        shows="id",
    ),
    Task(
        "Read as a member of a group, and commit",
        ("odradek consume payments --group billing",),
        ("kcat -q -b $B -G billing -e -X auto.offset.reset=earliest payments",),
        (f"{_CONSUME} --group billing --from-beginning --timeout-ms 5000",),
        shows='"id": 999',
    ),
    Task(
        "See the lag of a group",
        ("odradek groups show billing",),
        (),
        (f"{_GROUPS} --describe --group billing",),
        shows="payments",
    ),
    Task(
        "Set a group back to the beginning",
        ("odradek groups reset billing --topic payments --to earliest",),
        (),
        (f"{_GROUPS} --group billing --topic payments --reset-offsets --to-earliest --execute",),
        shows="payments",
    ),
    Task(
        "See the members of a group, and what each reads",
        ("odradek groups show stuck",),
        (),
        (f"{_GROUPS} --describe --group stuck --members --verbose",),
        shows="orders",
    ),
    Task(
        "Remove a member that is stuck",
        ("odradek groups kick stuck --all",),
        (),
        (),
        shows="removed",
    ),
    Task(
        "Change how long a topic is kept",
        ("odradek configs topic payments --set retention.ms=3600000",),
        (),
        (
            "kafka-configs.sh --bootstrap-server $B --alter --entity-type topics "
            "--entity-name payments --add-config retention.ms=3600000",
        ),
    ),
    Task(
        "Add partitions to a topic",
        ("odradek topics grow payments -p 6",),
        (),
        (f"{_TOPICS} --alter --topic payments --partitions 6",),
    ),
    Task(
        "Delete the records before an offset",
        ("odradek topics empty payments --before 100",),
        (),
        (
            f"echo '{_DELETE}' > offsets.json",
            "kafka-delete-records.sh --bootstrap-server $B --offset-json-file offsets.json",
        ),
        but="Kafka's takes each partition with its offset",
    ),
    Task(
        "Copy a topic by way of a file",
        (
            "odradek consume payments --json > payments.jsonl",
            "odradek produce copy --json payments.jsonl --create-topic 6",
        ),
        (f"{_KCAT} -e -K '\\t' > payments.txt", "kcat -P -b $B -t copy -K '\\t' payments.txt"),
        (
            f"{_CONSUME} --from-beginning {_WITH_KEYS} --timeout-ms 5000 > payments.txt",
            f"{_TOPICS} --create --topic copy --partitions 6",
            "kafka-console-producer.sh --bootstrap-server $B --topic copy "
            "--reader-property parse.key=true < payments.txt",
        ),
        but="the others keep neither headers, times nor partitions",
    ),
    Task(
        "List partitions with a replica that is not in sync",
        ("odradek brokers partitions --under-replicated",),
        (),
        (f"{_TOPICS} --describe --under-replicated-partitions",),
    ),
    Task(
        "See all topics",
        ("odradek topics",),
        ("kcat -L -b $B",),
        (f"{_TOPICS} --describe",),
        shows="payments",
    ),
    Task(
        "Delete a group and its topic",
        ("odradek groups delete billing", "odradek topics delete payments"),
        (),
        (f"{_GROUPS} --delete --group billing", f"{_TOPICS} --delete --topic payments"),
    ),
)
