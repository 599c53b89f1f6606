"""One partition's history, in Kafka's own files. Synchronous; the time is an argument.

directory = LogDirectory.open(path, node_id=1)
log = directory.open_log("orders", 0, topic_id, LogConfig(), now_ms)
"""

from typing import TYPE_CHECKING

from ..wire.on_demand import on_demand
from .config import LogConfig
from .damage import Damage
from .disk.directory import Directory
from .disk.in_flight import StoredBytes
from .disk.memory import MemoryDisk
from .log import Log
from .log_directory import LogDirectory, LogDirectoryError
from .lookup import FoundRecord
from .producers import Duplicate, ProducerStates
from .reading import Place
from .retention import LogView, RetentionPolicy, SegmentView, kafka_retention

if TYPE_CHECKING:
    from .repairs.partition_check import Finding
    from .repairs.repair import Report, repair
else:
    __getattr__ = on_demand(
        globals(), {".repairs.partition_check": "Finding", ".repairs.repair": "Report repair"}
    )

__all__ = [
    "Damage",
    "Directory",
    "Duplicate",
    "Finding",
    "FoundRecord",
    "Log",
    "LogConfig",
    "LogDirectory",
    "LogDirectoryError",
    "LogView",
    "MemoryDisk",
    "Place",
    "ProducerStates",
    "Report",
    "RetentionPolicy",
    "SegmentView",
    "StoredBytes",
    "kafka_retention",
    "repair",
]
