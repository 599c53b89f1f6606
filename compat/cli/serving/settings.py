"""Settings of `odradek serve` besides options: configs, features, topics with their seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAME = "odradek.toml"
"""The file that is read when none is named."""


class SettingsError(ValueError):
    """A file or a variable says what cannot be. `str` is a sentence that names both."""


@dataclass(frozen=True)
class TopicSettings:
    """A topic that is there once the broker is ready."""

    partitions: int = 1
    replicas: int | None = None
    configs: Mapping[str, str] = field(default_factory=dict)
    seed: Path | Sequence[Any] | None = None
    """A file, or the values themselves: produced if the topic was never written to."""


@dataclass
class Settings:
    """The settings that were read. A later place wins over an earlier one: `|`."""

    options: dict[str, Any] = field(default_factory=dict)
    """By the name of the option without its dashes: "data-dir"."""
    where: dict[str, str] = field(default_factory=dict)
    """Where each of the options stands, for what is said of it."""
    configs: dict[str, str] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    topics: dict[str, TopicSettings] = field(default_factory=dict)
    seeds: list[Path] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    """The files that were read."""
    not_obeyed: dict[str, str] = field(default_factory=dict)
    """Configs of a server.properties without effect, and why."""
    ignored: dict[str, str] = field(default_factory=dict)
    """The texts of those that DescribeConfigs shows all the same."""

    def __or__(self, later: Settings) -> Settings:
        return Settings(
            options=self.options | later.options,
            where=self.where | later.where,
            configs=self.configs | later.configs,
            features=self.features | later.features,
            topics=self.topics | later.topics,
            seeds=self.seeds + later.seeds,
            files=self.files + later.files,
            not_obeyed=self.not_obeyed | later.not_obeyed,
            ignored=self.ignored | later.ignored,
        )
