"""Configs of brokers that were set at run time: from the metadata log into what is in force.

A change is judged before it is written (config_changes.py). Only a start can find configs that
cannot be: those of another release, or at odds with what the broker is started with. Each is left
out, and a warning says so; it stays in the log.
"""

from __future__ import annotations

from ...base.logger import log
from ...config.configs import BrokerConfig
from ...config.definition import ConfigError
from ..delta import MetadataDelta
from ..image import BROKER_RESOURCE, MetadataImage


class BrokerConfigs:
    """Keeps `config` as the metadata log has it."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        changed = [name for kind, name in delta.configs if kind == BROKER_RESOURCE]
        if changed:
            self._set({name: dict(image.configs_of(BROKER_RESOURCE, name)) for name in changed})

    def _set(self, texts: dict[str, dict[str, str]]) -> None:
        """Replace what is set for these brokers, without what cannot be."""
        while True:
            try:
                self._config.set_dynamic(texts)
                return
            except ConfigError as error:
                if not any(texts.values()):
                    raise
                log.warning("a stored config of a broker is not used: %s", error)
                setting_it = [each for each in texts.values() if error.name in each]
                for each in setting_it:
                    del each[error.name]
                if not setting_it:  # one is at odds with what the broker is started with: which?
                    texts = {name: {} for name in texts}
