"""The configs of a release, as Kafka's own classes print them for its documentation."""

from __future__ import annotations

import re
import subprocess
import zipfile
from functools import cache
from html import unescape
from typing import NamedTuple

from odradek.compat.java.jars import classpath, jars, java, numbers

_BROKER = ("kafka.server.KafkaConfig",)
_TOPIC = ("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig")
_TAG = re.compile(r"<[^>]*>")
_MODES = {"cluster-wide": "cluster", "per-broker": "broker"}
_CONSTANT = re.compile(rb"\x01\x00(?s:.)([a-z]+(?:\.[a-z]+)*)")
_HINT = re.compile(r"^(-?[0-9.]+) \(.*\)$")
_RANGE = re.compile(r"\[(-?[0-9.]+)?,?\.\.\.(?:,(-?[0-9.]+))?\]")
_NEXT_PRINTED = "3.6.2"
_UNPRINTED = ("local.retention.bytes", "local.retention.ms", "remote.storage.enable")
"""Configs of topics that 3.3 has, and shows, and does not print."""
_DOTTED = ("0.8.0", "0.8.1")
_WITHOUT_DEFAULT = ".throttled.replicas"
"""Configs of topics that are printed as if brokers had them."""
_OF_API_VERSIONS = ("message.format.version", "inter.broker.protocol.version")


class Config(NamedTuple):
    """A config as the documentation has it."""

    kind: str
    default: str
    valid: str
    mode: str
    server_default: str


@cache
def broker_configs(version: str) -> dict[str, Config]:
    """Those of a broker, by name."""
    return _printed(version, _BROKER)


@cache
def topic_configs(version: str) -> dict[str, Config]:
    """Those of a topic, by name."""
    # Any of them may be changed at run time, and no page says so.
    printed = dict(_printed(version, _TOPIC))
    if (3, 0) <= numbers(version) < (3, 6):
        printed |= {name: topic_configs(_NEXT_PRINTED)[name] for name in _UNPRINTED}
    return {name: each._replace(mode="cluster") for name, each in printed.items()}


@cache
def constants(version: str, classes: str) -> frozenset[str]:
    """The texts in these classes (a pattern of their files' names): where nothing is printed, the
    names of configs are among them."""
    found = set()
    for path in jars(version).glob("kafka*.jar"):
        with zipfile.ZipFile(path) as archive:
            for name in filter(re.compile(classes).fullmatch, archive.namelist()):
                for text in _CONSTANT.finditer(archive.read(name)):
                    length = text[0][2]
                    found.add(text[1][:length].decode())
    return frozenset(found)


def _printed(version: str, classes: tuple[str, ...]) -> dict[str, Config]:
    for name in classes:
        command = [java(), "-cp", classpath(jars(version)), name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        found = _of_list(done.stdout) or _of_lines(done.stdout) or _of_table(done.stdout)
        if found:
            return found
    raise LookupError(f"Kafka {version} prints no configs by {classes}")


def _of_list(page: str) -> dict[str, Config]:
    """Since 2.6: a heading for each, and a table of two columns."""
    found = {}
    for part in page.split("<h4>")[1:]:
        heading, _, rest = part.partition("</h4>")
        rows = re.findall(r"<tr><th>(.*?):</th><td>(.*?)</td></tr>", rest, re.DOTALL)
        found[_text(heading)] = _config({_text(k).lower(): _text(v) for k, v in rows})
    return found


def _of_lines(page: str) -> dict[str, Config]:
    """2.4 and 2.5: a line for each, and a list of its own."""
    found = {}
    for part in page.split("<li><b>"):
        name, _, rest = part.partition("</b>: ")
        if "horizontal-list" in rest:  # what follows are the parts of this one
            values: dict[str, str] = {}
            found[_text(name)] = values
        elif found:
            values[_text(name).lower()] = _text(rest)
    return {name: _config(values) for name, values in found.items()}


def _of_table(page: str) -> dict[str, Config]:
    """Before 2.4: one table."""
    names = [_text(each).lower() for each in re.findall(r"<th>(.*?)</th>", page, re.DOTALL)]
    found = {}
    for row in re.findall(r"<tr>\s*(<td>.*?)</tr>", page, re.DOTALL):
        cells = [_text(each) for each in re.findall(r"<td>(.*?)</td>", row, re.DOTALL)]
        values = dict(zip(names, cells, strict=False))
        found[values["name"]] = _config(values)
    return found


def _config(values: dict[str, str]) -> Config:
    default = _HINT.sub(r"\1", values["default"])
    mode = _MODES.get(values.get("update mode", values.get("dynamic update mode", "")), "")
    server = values.get("server default property", "")
    return Config(values["type"].upper(), default, values.get("valid values", ""), mode, server)


def _text(html: str) -> str:
    return unescape(_TAG.sub("", html)).strip()


def rule_of(config: Config) -> str | None:
    """The valid values in the words of config/definition.py; None if it has none for them."""
    valid = config.valid
    if not valid:
        return "*"
    if found := _RANGE.fullmatch(valid.replace(" ", "")):
        low, high = (each if each is None else each.removesuffix(".0") for each in found.groups())
        return f"{low or ''}..{high or ''}"
    if "non-empty string" in valid:
        return "!"
    items = valid.strip("[]").split(", ")
    if items[0] in _DOTTED:
        short = dict.fromkeys([*items, *(each.partition("-")[0] for each in items)])
        return rf"version:({'|'.join(map(re.escape, short))})(\..*)?"
    if valid.startswith("[") and all(re.fullmatch(r"[\w.:-]+", item) for item in items):
        return ("repeated:" if config.kind == "LIST" else "") + "|".join(items)
    return None


def row_of(name: str, config: Config, newer: Config | None, rule: str | None) -> list[str]:
    """The lines of a table for a config; `rule` is that of the newer release."""
    default = {"null": "-", "": "-"}.get(config.default, config.default).replace(" ", "")
    is_same = newer is not None and newer.valid == config.valid
    rule = rule if is_same else (rule_of(config) or rule)
    if name.endswith(_OF_API_VERSIONS) and not config.default.startswith("3"):
        rule = f"api:{config.default}"
    lines = [f"{name} {config.kind} {default} {rule or '*'} {config.mode}".rstrip()]
    if config.server_default and not name.endswith(_WITHOUT_DEFAULT):
        lines.append(f"    from {config.server_default}")
    return lines
