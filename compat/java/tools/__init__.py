"""Kafka's command line tools, run one after the other in one running JVM.

    with KafkaTools("4.3.1") as tools:
        tools.run("TopicCommand", "--bootstrap-server", address, "--list").out

A tool takes a second as a process of its own, and some tens of milliseconds here. It prints what it
would print in a shell; log lines go to this process's standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ..process import JavaProcess

PACKAGE = "org.apache.kafka.tools."


class Ran(NamedTuple):
    status: int
    out: str
    err: str


class KafkaTools(JavaProcess):
    """The tools of one Kafka version. Raises Unavailable from `start`."""

    def __init__(self, version: str) -> None:
        super().__init__(version, "Tools", Path(__file__).parent)

    def run(self, tool: str, *args: str, stdin: str = "") -> Ran:
        """Run a tool: a class below `org.apache.kafka.tools`, or with its package.

        Raises TimeoutError if it takes more than two minutes.
        """
        main = tool if tool.startswith(("org.", "kafka.")) else PACKAGE + tool
        answer = self.ask(main=main, args=list(args), stdin=stdin)
        return Ran(answer["status"], answer["out"], answer["err"])
