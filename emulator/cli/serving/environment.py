"""Options of `odradek serve` by the environment, for containers.

ODRADEK_DATA_DIR=/data                   --data-dir /data: each option has its variable
ODRADEK_QUIET=true                       of an option without a value: true or false
ODRADEK_TOPIC=orders:3,clicks            several with commas
ODRADEK_SET_LOG_RETENTION_HOURS=24       --set log.retention.hours=24
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from ...config.broker_table import broker_definitions
from .settings import Settings, SettingsError

PREFIX = "ODRADEK_"
_CONFIG = f"{PREFIX}SET_"


def variable(option: str) -> str:
    """The variable of an option: "data-dir" is ODRADEK_DATA_DIR."""
    return PREFIX + option.replace("-", "_").upper()


def read_environment(environment: Mapping[str, str], options: Mapping[str, bool]) -> Settings:
    """What the environment says; empty variables count as not set. Raises SettingsError."""
    settings = Settings()
    for option in options:
        name = variable(option)
        if value := environment.get(name, "").strip():
            settings.options[option] = value
            settings.where[option] = name
    names = {config.replace(".", "_").upper(): config for config in broker_definitions()}
    for name, value in environment.items():
        if name.startswith(_CONFIG) and value.strip():
            key = name.removeprefix(_CONFIG)
            if key not in names:
                close = get_close_matches(key, names, 1)
                hint = f"; is {_CONFIG}{close[0]} meant?" if close else ""
                raise SettingsError(f"{name}: there is no such broker config{hint}")
            settings.configs[names[key]] = value.strip()
    return settings
