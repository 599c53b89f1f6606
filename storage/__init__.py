"""One partition's history, in Kafka's own files. Synchronous; the time is an argument.

directory = LogDirectory.open(path, node_id=1)
log = directory.open_log("orders", 0, topic_id, LogConfig(), now_ms)
"""

from .config import LogConfig
from .directory import Directory
from .log import Log
from .logdir import LogDirectory, LogDirectoryError
from .lookup import Found
from .memory import MemoryDisk
from .producers import Duplicate, ProducerStates
from .retention import LogView, RetentionPolicy, SegmentView, kafka_retention

__all__ = [
    "Directory",
    "Duplicate",
    "Found",
    "Log",
    "LogConfig",
    "LogDirectory",
    "LogDirectoryError",
    "LogView",
    "MemoryDisk",
    "ProducerStates",
    "RetentionPolicy",
    "SegmentView",
    "kafka_retention",
]
