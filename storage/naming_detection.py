"""Which naming a log directory follows, judged by the partition directories in it.

A partition directory with another naming than the one a log directory is opened with would be
overlooked, and an empty cluster be shown; so it is looked for.
"""

from __future__ import annotations

from .checkpoints import PARTITION_METADATA
from .disk.directory import Directory
from .naming import KAFKA, NAMINGS, Naming


def find_other_naming(directory: Directory, naming: Naming) -> tuple[str, str] | None:
    """A partition directory that follows another naming, and that naming's name; or None.

    Raises OSError.
    """
    for name in directory.directories():
        if naming.parse_directory(name) is not None:
            continue
        for other_name, other in NAMINGS.items():
            if other != naming and other.parse_directory(name) is not None:
                files = directory.child(name).files()
                has_logs = any(
                    parsed is not None and parsed[1] == other.log_suffix
                    for parsed in map(other.parse_file, files)
                )
                if has_logs or PARTITION_METADATA in files:
                    return name, other_name
    return None


def naming_in(directory: Directory) -> Naming:
    """The naming that a log directory follows; Kafka's if it has no partitions. Raises OSError."""
    found = find_other_naming(directory, KAFKA)
    return KAFKA if found is None else NAMINGS[found[1]]
