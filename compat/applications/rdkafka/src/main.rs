//! Each order becomes an invoice, in one transaction with its offset.

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use rdkafka::{Message, Offset, TopicPartitionList};
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(60);

fn main() {
    let address = std::env::var("KAFKA_BOOTSTRAP_SERVERS").unwrap();
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", &address)
        .set("group.id", "application")
        .set("session.timeout.ms", "6000")
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("isolation.level", "read_committed")
        .create()
        .unwrap();
    consumer.subscribe(&["orders"]).unwrap();
    let producer: ThreadedProducer<DefaultProducerContext> = ClientConfig::new()
        .set("bootstrap.servers", &address)
        .set("transactional.id", "application")
        .set("transaction.timeout.ms", "10000")
        .set("linger.ms", "0")
        .create()
        .unwrap();
    producer.init_transactions(WAIT).unwrap();
    loop {
        // What cannot be done ends the process; the next one goes on at what is committed.
        let Some(Ok(message)) = consumer.poll(Duration::from_millis(100)) else {
            continue; // nothing yet, or the broker is away
        };
        let order: serde_json::Value = serde_json::from_slice(message.payload().unwrap()).unwrap();
        let invoice = format!("{{\"order\": {}, \"paid\": true}}", order["order"]);
        producer.begin_transaction().unwrap();
        let record = BaseRecord::to("invoices")
            .key(message.key().unwrap())
            .payload(&invoice);
        producer.send(record).map_err(|(error, _)| error).unwrap();
        let mut offsets = TopicPartitionList::new();
        let next = Offset::Offset(message.offset() + 1);
        offsets
            .add_partition_offset("orders", message.partition(), next)
            .unwrap();
        let metadata = consumer.group_metadata().unwrap();
        producer
            .send_offsets_to_transaction(&offsets, &metadata, WAIT)
            .unwrap();
        producer.commit_transaction(WAIT).unwrap();
    }
}
