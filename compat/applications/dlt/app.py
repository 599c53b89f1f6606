"""Orders are loaded into DuckDB and into a topic; their offsets are committed after that."""

import json
import os

import dlt
from confluent_kafka import Consumer, Producer

servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
consumer = Consumer(
    {
        "bootstrap.servers": servers,
        "group.id": "application",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 6000,
    }
)
producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})


@dlt.destination(batch_size=50, name="topic")
def topic(items, table):
    for item in items:
        value = {"order": item["order"], "customer": item["customer"]}
        producer.produce("invoices", json.dumps(value), item["customer"])
    if producer.flush(60):
        raise ConnectionError("the broker is away")


def load(pipeline, orders):
    if pipeline.has_pending_data:  # of a process that was killed: `run` would load that alone
        pipeline.run().raise_on_failed_jobs()
    resource = dlt.resource(orders, name="orders", write_disposition="merge", primary_key="order")
    pipeline.run(resource).raise_on_failed_jobs()


table = dlt.pipeline("table", pipelines_dir="state", destination="duckdb", dataset_name="shop")
stream = dlt.pipeline("stream", pipelines_dir="state", destination=topic)
consumer.subscribe(["orders"])
while True:
    messages = [each for each in consumer.consume(100, timeout=1) if each.error() is None]
    if messages:
        orders = [json.loads(each.value()) for each in messages]
        load(table, orders)
        load(stream, orders)
        consumer.commit(asynchronous=False)
