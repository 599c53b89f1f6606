"""CreateTopics (19): create topics, by number of partitions or by given replicas."""

from __future__ import annotations

from ..primitives import NO_ID
from ..schema import UUID, Request, Response, Struct, i8, i16, i32, tag, v


class CreateTopicsRequest(Request, api=19, versions="0-7", flexible="5+"):
    """Create these topics; -1 partitions or replicas mean the broker's default."""

    topics: list[Topic]
    timeout_ms: i32 = 60000
    validate_only: bool = v("1+", default=False)

    class Topic(Struct):
        name: str
        num_partitions: i32
        replication_factor: i16
        assignments: list[Assignment]
        configs: list[Config]

        class Assignment(Struct):
            partition_index: i32
            broker_ids: list[i32]

        class Config(Struct):
            name: str
            value: str | None


class CreateTopicsResponse(Response, api=19, versions="0-7", flexible="5+"):
    """The result for each topic, with its configs from v5 on."""

    throttle_time_ms: i32 = v("2+", default=0)
    topics: list[Topic]

    class Topic(Struct):
        name: str
        topic_id: UUID = v("7+", default=NO_ID)
        error_code: i16 = 0
        error_message: str | None = v("1+", default="")
        topic_config_error_code: i16 = tag(0, "5+", default=0)
        num_partitions: i32 = v("5+", default=-1)
        replication_factor: i16 = v("5+", default=-1)
        configs: list[Config] | None = v("5+", default=[], shared=True)

        class Config(Struct):
            name: str
            value: str | None
            read_only: bool
            config_source: i8 = -1
            is_sensitive: bool
