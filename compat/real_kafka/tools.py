"""Kafka's command line tools, each run in a process of its own. In one running JVM: java/tools."""

from __future__ import annotations

import subprocess

from ..java.jars import classpath, jars, java
from .class_archive import java_options

VERSION = "4.3.1"
TOOL_TIMEOUT_S = 120.0

# Start-up on few cores is mostly class loading and compilation: the cheap compiler and the
# single-threaded collector are the quickest. Warnings only, on standard error.
JVM = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]


def run_tool(version: str, name: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a class with a main method from that Kafka version's archives; return its output.

    Raises Unavailable without Java or archives, subprocess.TimeoutExpired after 120 s.
    """
    command = [java(), *JVM, *java_options(version), "-cp", classpath(jars(version)), name, *args]
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TOOL_TIMEOUT_S,
    )
