"""Each order is counted for its customer."""

import os

from quixstreams import Application

app = Application(
    broker_address=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    consumer_group="application",
    auto_offset_reset="earliest",
    processing_guarantee="exactly-once",
    commit_interval=0.2,
    state_dir="state",
    topic_create_timeout=30,
)


def count(order, state):
    number = state.get("count", 0) + 1
    state.set("count", number)
    return {**order, "count": number}


frame = app.dataframe(app.topic("orders", value_deserializer="json"))
frame.apply(count, stateful=True).to_topic(app.topic("invoices", value_serializer="json"))
app.run()
