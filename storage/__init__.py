"""One partition's history, in Kafka's own files. Synchronous; the time is an argument.

directory = LogDirectory.open(path, node_id=1)
log = directory.open_log("orders", 0, topic_id, LogConfig(), now_ms)
"""

from .check import Finding
from .config import LogConfig
from .damage import Damage
from .directory import Directory
from .log import Log
from .logdir import LogDirectory, LogDirectoryError
from .lookup import Found
from .memory import MemoryDisk
from .producers import Duplicate, ProducerStates
from .repairing import Report, repair
from .retention import LogView, RetentionPolicy, SegmentView, kafka_retention

__all__ = [
    "Damage",
    "Directory",
    "Duplicate",
    "Finding",
    "Found",
    "Log",
    "LogConfig",
    "LogDirectory",
    "LogDirectoryError",
    "LogView",
    "MemoryDisk",
    "ProducerStates",
    "Report",
    "RetentionPolicy",
    "SegmentView",
    "kafka_retention",
    "repair",
]
