"""Each order is counted for its customer."""

import os

import faust

app = faust.App(
    "application",
    broker="kafka://" + os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    datadir="state",
    topic_partitions=3,
    topic_replication_factor=1,
    consumer_auto_offset_reset="earliest",
    broker_commit_interval=0.2,
    broker_session_timeout=6.0,
    broker_heartbeat_interval=1.0,
    value_serializer="json",
)


class Order(faust.Record):
    order: int
    customer: str


orders = app.topic("orders", value_type=Order, key_type=bytes, key_serializer="raw")
invoices = app.topic("invoices", key_type=bytes, key_serializer="raw")
counts = app.Table("counts", default=int, partitions=3)


@app.agent(orders)
async def bill(stream):
    async for order in stream:
        counts[order.customer] += 1
        value = {"order": order.order, "customer": order.customer, "count": counts[order.customer]}
        await invoices.send(key=order.customer.encode(), value=value)


if __name__ == "__main__":
    app.main()
