"""The topics of a data directory as its metadata log has them: also partitions without a record,
for which a broker may not have made a directory yet, and how many replicas each has.

Read as a broker reads it at a start (the newest snapshot, and the log after it), without a lock;
asked again, it is read on from where it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ....storage.disk.directory import Directory
from ....storage.naming import CLUSTER_METADATA, NAMINGS
from ....wire.errors import WireError
from ....wire.stored.cluster import read_record
from ..segments.decoder import read_segment
from ..segments.listing import list_segments
from ..segments.wanted import Wanted

if TYPE_CHECKING:
    from ....emulator.metadata.image import MetadataImage

TopicPartition: TypeAlias = tuple[str, int]


def naming_in(path: str) -> str:
    """The naming of a data directory, by that of its metadata log; Kafka's where there is none."""
    logs = {
        name: Path(path, naming.directory(CLUSTER_METADATA, 0)) for name, naming in NAMINGS.items()
    }
    return next((name for name, home in logs.items() if home.is_dir()), "kafka")


class Topics:
    def __init__(self, path: str) -> None:
        naming = NAMINGS[naming_in(path)]
        self._home = Path(path, naming.directory(CLUSTER_METADATA, 0))
        self._image: MetadataImage | None = None
        self._next = 0

    def replicas(self) -> dict[TopicPartition, int]:
        """How many replicas each partition has; nothing where there is no metadata log.

        Raises Damaged, OSError.
        """
        if not self._home.is_dir():
            return {}
        image = self._up_to_date()
        return {
            (topic.name, number): len(partition.replicas)
            for topic in image.topics.values()
            for number, partition in topic.partitions.items()
        }

    def _up_to_date(self) -> MetadataImage:
        # Here, because tasks import this module too, and need no broker.
        from ....emulator.metadata.delta import MetadataDelta

        segments = list_segments(self._home)
        image = self._image
        if image is None or (segments and segments[0].base_offset > self._next):
            image = self._image = self._of_snapshot()
        for segment in segments:
            wanted = Wanted(("offset", "value"), self._next, isolation="read_uncommitted")
            for rows in read_segment(segment, wanted):
                for value in rows.column("value").to_pylist():
                    try:
                        image.replay(read_record(value or b"")[0], MetadataDelta())
                    except WireError:  # of a newer Kafka, which a broker passes over too
                        continue
                self._next = rows.column("offset")[-1].as_py() + 1
        return image

    def _of_snapshot(self) -> MetadataImage:
        """The image of the newest snapshot that is whole."""
        from ....emulator.metadata.delta import MetadataDelta
        from ....emulator.metadata.image import MetadataImage
        from ....emulator.metadata.snapshot import read_snapshot, snapshots_in

        image = MetadataImage()
        directory = Directory(self._home)
        self._next = 0
        for candidate in reversed(snapshots_in(directory)):
            contents = read_snapshot(directory, candidate.name)
            if contents is None:
                continue
            for record in contents.records:
                image.replay(read_record(record.value or b"")[0], MetadataDelta())
            self._next = candidate.end
            break
        return image
