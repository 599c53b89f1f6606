"""A real Apache Kafka from Maven's archives, and its tools: what the emulator is compared with."""

from .cluster import RealCluster
from .node import RealKafka
from .tools import JVM, VERSION, run_tool
from .zookeeper import RealZooKeeper

__all__ = ["JVM", "VERSION", "RealCluster", "RealKafka", "RealZooKeeper", "run_tool"]
