"""A task for each order, which writes its invoice."""

import json
import os

from celery import Celery
from confluent_kafka import Producer

servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
app = Celery("application", broker=f"confluentkafka://{servers}")
app.conf.task_acks_late = True
app.conf.worker_prefetch_multiplier = 1
app.conf.task_ignore_result = True
app.conf.broker_connection_retry_on_startup = True
producer = None


@app.task(name="bill")
def bill(order):
    global producer
    producer = producer or Producer({"bootstrap.servers": servers, "linger.ms": 0})
    producer.produce("invoices", json.dumps({"order": order, "paid": True}))
    assert producer.flush(60) == 0
