"""Whether a log directory can be used: while a broker runs, it may be removed, or closed to it by
`chmod`.

- Open files that were removed can still be written and read, and so they are, as a real broker's.
  That is said at once: a log looks at its file when it appends, once in a millisecond.
- What opens, creates or syncs a file there fails. If the reason is that the log directory or the
  partition's has gone, or may not be used, then the whole log directory is offline until the next
  start: whatever is asked of its logs fails. Kafka does the same, and halts if it has no other.
- `look` finds out without a log's help: called before a directory is created, at checkpoints and at
  the end, and by the broker every few seconds.
- A failure of another kind, a full disk for instance, takes nothing offline: it may be over soon.

Left out: what clients are answered (partition_directory.py). Source: Kafka 4.3.1, whose directory
was removed. It went on until a segment rolled, a topic was created, or 5 seconds were over.
"""

from __future__ import annotations

import errno

from .checkpoints import META_PROPERTIES
from .disk.directory import Directory
from .notices import Notices

_ADVICE = "Delete topics instead of files, and a data directory after the broker's stop"


class Availability:
    """Whether one log directory can be used. Without a directory there is nothing to find out.

    Read only: `offline`, why it is so, or None; `notices`, what was said of it.
    """

    def __init__(self, directory: Directory | None = None) -> None:
        """The directory has its `meta.properties`. Raises OSError."""
        self.offline: str | None = None
        self.notices = Notices()
        self.checked_ms: int | None = None
        """When a log last looked at its file; None once offline, so that each append does."""
        self._directory = directory
        self._identity = b"" if directory is None else directory.read_bytes(META_PROPERTIES)
        self._has_said = False

    def identified(self, identity: bytes) -> None:
        """These bytes are its `meta.properties` from now on."""
        self._identity = identity

    def check(self) -> None:
        """Raise OSError if it is offline."""
        if self.offline is not None:
            raise OSError(errno.EIO, f"the log directory is offline, because {self.offline}")

    def look(self) -> None:
        """Raise OSError if it is offline, or has to be from now on."""
        self.check()
        directory = self._directory
        if directory is None:
            return
        if not directory.is_accessible():
            gone = not directory.exists()
            self.take_offline("it was removed" if gone else "the broker may not use it any more")
        elif not self._is_the_same(directory):
            self.take_offline(f"its {META_PROPERTIES} was removed or replaced")

    def take_offline(self, reason: str) -> None:
        """Nothing in it can be used from now on. Raises OSError."""
        if self.offline is None and self._directory is not None:
            self.offline = reason
            self.checked_ms = None
            self.notices.append(
                f"{self._directory.path} is offline until the next start, because {reason}: "
                f"what is asked of its partitions is answered KAFKA_STORAGE_ERROR. {_ADVICE}"
            )
        self.check()

    def removed(self, name: str) -> None:
        """A file that is written to was removed."""
        if self._directory is not None and not self._has_said:
            self._has_said = True
            self.notices.append(
                f"{self._directory.path}/{name} was removed while the broker runs: what is written "
                f"to it is lost. {_ADVICE}"
            )

    def _is_the_same(self, directory: Directory) -> bool:
        try:
            return directory.read_bytes(META_PROPERTIES) == self._identity
        except FileNotFoundError:
            return False
