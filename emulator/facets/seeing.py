"""What a test sees of a broker: topics, groups, transactions, producers, clients."""

from __future__ import annotations

from .. import parameters, seen
from ..cluster import Cluster
from .facet import Facet


class Seeing(Facet):
    """Views of what is there. Each reads anew."""

    def topic(self, name: str) -> seen.TopicView:
        """A view of a topic. Raises Refused(UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
        parameters.topic_name(name)
        if name not in (names := self.topics()):
            raise seen.no_topic(name, names)
        return seen.TopicView(self._inside, name)

    def __getitem__(self, name: str) -> seen.TopicView:
        """`kafka["orders"]` is `kafka.topic("orders")`."""
        return self.topic(name)

    def topics(self) -> list[str]:
        """The names of all topics, internal ones too."""
        return self.run(lambda cluster: [topic.name for topic in cluster.topics])

    def group(self, group_id: str) -> seen.GroupView:
        """A view of a consumer group, which need not exist yet. Raises TypeError."""
        parameters.group_id(group_id)
        return seen.GroupView(self._inside, group_id)

    def groups(self) -> list[str]:
        """The ids of all groups, of every type: those with members or committed offsets."""
        return seen.group_ids(self._inside)

    def share_group(self, group_id: str) -> seen.ShareGroupView:
        """A view of a share group (KIP-932), which need not exist yet. Raises TypeError."""
        parameters.group_id(group_id)
        return seen.ShareGroupView(self._inside, group_id)

    def streams_group(self, group_id: str) -> seen.StreamsGroupView:
        """A view of a streams group (KIP-1071), by the application's id; it need not exist yet.
        Raises TypeError."""
        parameters.group_id(group_id)
        return seen.StreamsGroupView(self._inside, group_id)

    def transactions(self) -> list[seen.SeenTransaction]:
        """Every transactional id that the broker knows, and its transaction, by name."""
        return seen.transactions_of(self._inside)

    def producers(self, topic: str) -> list[seen.SeenProducer]:
        """What the partitions of a topic know of producers. Raises Refused as `topic` does."""
        return self.topic(topic).producers()

    def clients(self) -> list[seen.SeenClient]:
        """The connections of clients, in the order in which they came."""
        return self._inside.clients()

    @property
    def notices(self) -> list[str]:
        """What was found to be wrong on disk, and what was done about it, in sentences."""

        def told(cluster: Cluster) -> list[str]:
            log_dir = cluster.log_dir
            return [*log_dir.notices, *log_dir.availability.notices]

        return self.run(told)
