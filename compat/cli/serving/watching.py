"""`odradek serve --watch`: a file that changes is read again, and applied while the broker runs.

A file that is wrong changes nothing: what was applied last stays, and the log says what is wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from ....emulator.config.configs import BrokerConfig
from ....emulator.embedded.embedded import Embedded
from ....wire import Error, Refused
from ..log.levels import ERROR, INFO
from .apply import apply, problems
from .settings import Settings, SettingsError

_EVERY_S = 0.5
_NEXT_START = "will count from the next start on"
_ONLY_AT_START = "Cannot update these configs dynamically"


class Watch:
    """Looks at the files until it is closed; tells what it did, with a level of the log."""

    def __init__(
        self,
        kafka: Embedded,
        applied: Settings,
        read: Callable[[], Settings],
        tell: Callable[[str, str], None],
        *,
        every_s: float = _EVERY_S,
    ) -> None:
        self._kafka = kafka
        self._applied = applied
        self._read = read
        self._tell = tell
        self._every_s = every_s
        self._set: set[str] = set()
        self._over = threading.Event()
        self._seen = _signature(applied.files)
        self._thread = threading.Thread(target=self._look, name="odradek-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it. What is being applied is finished."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self._every_s):
            seen = _signature(self._applied.files)
            if seen != self._seen:
                self._seen = seen
                self._take_over()

    def _take_over(self) -> None:
        name = self._applied.files[-1]
        prefix = f"{name}: "
        config: BrokerConfig = self._kafka.run(lambda cluster: cluster.config)
        try:
            settings = self._read()
            wrong = list(problems(settings, config))
        except SettingsError as error:
            wrong = [str(error)]
        if wrong:
            text = "; ".join(each.removeprefix(prefix) for each in wrong)
            self._tell(f"{name} was changed, and is not used: {text}", ERROR)
            return
        before, self._applied = self._applied, settings
        try:
            done = [*self._configs(before, settings), *apply(self._kafka, settings, before)]
        except Refused as refused:
            self._tell(f"{name} was changed, and could not be applied whole: {refused}", ERROR)
            return
        done += _later(before, settings)
        self._tell(f"{name} was changed: {', '.join(done) or 'nothing is to be done'}", INFO)

    def _configs(self, before: Settings, settings: Settings) -> list[str]:
        from ...wire_client.configuring import ALL_BROKERS, BROKER, set_configs
        from ...wire_client.in_process import source_of

        old, new = before.configs, settings.configs
        changed: dict[str, str | None] = dict.fromkeys(old.keys() - new.keys())
        changed |= {name: text for name, text in new.items() if old.get(name) != text}
        done = []
        for name, text in sorted(changed.items()):  # each by itself: one may need a restart
            if text is None and name not in self._set:
                done.append(f"{name} {_NEXT_START}")
                continue
            try:
                set_configs(source_of(self._kafka), BROKER, ALL_BROKERS, {name: text})
            except Refused as refused:
                if refused.error is Error.INVALID_REQUEST and _ONLY_AT_START in str(refused):
                    done.append(f"{name} {_NEXT_START}")
                else:
                    done.append(f"{name} is not changed ({refused})")
            else:
                self._set.add(name)
                done.append(
                    f"{name} is what it was at the start" if text is None else f"set {name}={text}"
                )
        return done


def _later(before: Settings, settings: Settings) -> list[str]:
    names = sorted(before.options.keys() | settings.options.keys())
    found = [each for each in names if before.options.get(each) != settings.options.get(each)]
    if before.features != settings.features:
        found.append("features")
    return [f"{', '.join(found)} {_NEXT_START}"] if found else []


def _signature(files: Sequence[Path]) -> list[tuple[int, int, int] | None]:
    return [_of(path) for path in files]


def _of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
