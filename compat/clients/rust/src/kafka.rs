//! The verbs, by rdkafka, which is librdkafka. Admin requests that it lacks are those of a consumer.

use crate::{Command, Offsets, Outcome, BEGINNING, END, LIMIT};
use base64::{engine::general_purpose::STANDARD, Engine};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication, TopicResult};
use rdkafka::client::{ClientContext, DefaultClientContext};
use rdkafka::config::{ClientConfig, FromClientConfig, FromClientConfigAndContext};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, DeliveryResult, Headers, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{Message, Offset, TopicPartitionList};
use serde_json::{json, Value};
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{channel, Sender};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

const METADATA_LIMIT: Duration = Duration::from_secs(10);

fn config(command: &Command) -> ClientConfig {
    let mut found = ClientConfig::new();
    found.set("bootstrap.servers", &command.bootstrap);
    let security = &command.security;
    for (name, value) in [
        ("security.protocol", &security.protocol),
        ("sasl.mechanism", &security.mechanism),
        ("sasl.username", &security.user),
        ("sasl.password", &security.password),
        ("ssl.ca.pem", &security.ca),
        ("ssl.certificate.pem", &security.certificate),
        ("ssl.key.pem", &security.key),
    ] {
        if !value.is_empty() {
            found.set(name, value);
        }
    }
    if security.mechanism == "OAUTHBEARER" {
        found.set("enable.sasl.oauthbearer.unsecure.jwt", "true");
        found.set(
            "sasl.oauthbearer.config",
            format!("principal={}", security.user),
        );
    }
    found
}

fn data(text: &Option<String>) -> Outcome<Option<Vec<u8>>> {
    Ok(text
        .as_ref()
        .map(|text| STANDARD.decode(text))
        .transpose()?)
}

fn shown(data: Option<&[u8]>) -> Option<String> {
    data.map(|data| STANDARD.encode(data))
}

/// Where a record was written; or why it was not.
type Delivery = (usize, Result<(i32, i64), String>);

struct Deliveries(Sender<Delivery>);

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<usize>;

    fn delivery(&self, result: &DeliveryResult<'_>, number: Box<usize>) {
        let place = match result {
            Ok(message) => Ok((message.partition(), message.offset())),
            Err((error, _)) => Err(error.to_string()),
        };
        let _ = self.0.send((*number, place)); // nobody listens once the verb has failed
    }
}

pub fn produce(command: &Command) -> Outcome<Vec<(i32, i64)>> {
    let mut config = config(command);
    config.set("acks", command.acks.to_string());
    if !command.compression.is_empty() {
        config.set("compression.type", &command.compression);
    }
    let transactional = !command.transactional_id.is_empty();
    if transactional {
        config.set("transactional.id", &command.transactional_id);
    } else {
        config.set("enable.idempotence", command.idempotent.to_string());
    }
    let (sender, delivered) = channel();
    let producer: ThreadedProducer<Deliveries> = config.create_with_context(Deliveries(sender))?;
    if transactional {
        producer.init_transactions(LIMIT)?;
        producer.begin_transaction()?;
    }
    for (number, record) in command.records.iter().enumerate() {
        let (key, value) = (data(&record.key)?, data(&record.value)?);
        let mut made: BaseRecord<'_, Vec<u8>, Vec<u8>, Box<usize>> =
            BaseRecord::with_opaque_to(&command.topic, Box::new(number));
        made.key = key.as_ref();
        made.payload = value.as_ref();
        made.timestamp = record.timestamp;
        made.partition = command.partition;
        let mut headers = OwnedHeaders::new();
        for header in &record.headers {
            let value = data(&header.value)?;
            let (key, value) = (header.name.as_str(), value.as_ref());
            headers = headers.insert(rdkafka::message::Header { key, value });
        }
        made.headers = Some(headers);
        producer.send(made).map_err(|(error, _)| error)?;
    }
    let mut places = vec![(0, 0); command.records.len()];
    for _ in &command.records {
        let (number, place) = delivered.recv_timeout(LIMIT)?;
        places[number] = place?;
    }
    if transactional && command.abort {
        producer.abort_transaction(LIMIT)?;
    } else if transactional {
        producer.commit_transaction(LIMIT)?;
    }
    Ok(places)
}

/// What went wrong in the background.
#[derive(Default)]
struct Errors(Mutex<Vec<String>>);

impl ClientContext for Errors {
    fn error(&self, error: KafkaError, reason: &str) {
        self.0.lock().unwrap().push(format!("{error}: {reason}"));
    }
}

impl ConsumerContext for Errors {}

pub struct Member {
    consumer: BaseConsumer<Errors>,
    topic: String,
}

fn consumer(command: &Command, more: &[(&str, &str)]) -> Outcome<BaseConsumer<Errors>> {
    let mut config = config(command);
    let group = if command.group.is_empty() {
        "none"
    } else {
        &command.group
    };
    config.set("group.id", group);
    config.set("enable.auto.commit", "false");
    for (name, value) in more {
        config.set(*name, *value);
    }
    Ok(BaseConsumer::from_config_and_context(
        &config,
        Errors::default(),
    )?)
}

impl Member {
    pub fn new(command: &Command, starts: &Offsets) -> Outcome<Member> {
        let session = command.session_ms.to_string();
        let heartbeat = command.heartbeat_ms.to_string();
        let reset = if command.beginning {
            "earliest"
        } else {
            "latest"
        };
        let level = if command.committed {
            "read_committed"
        } else {
            "read_uncommitted"
        };
        let mut more = vec![("auto.offset.reset", reset), ("isolation.level", level)];
        if command.protocol == "consumer" {
            more.push(("group.protocol", "consumer"));
        } else if !command.group.is_empty() {
            more.push(("session.timeout.ms", &session));
            more.push(("heartbeat.interval.ms", &heartbeat));
        }
        let consumer = consumer(command, &more)?;
        let member = Member {
            consumer,
            topic: command.topic.clone(),
        };
        if command.group.is_empty() {
            member.consumer.assign(&member.places(starts)?)?;
        } else {
            member.consumer.subscribe(&[&command.topic])?;
        }
        Ok(member)
    }

    fn places(&self, offsets: &Offsets) -> Outcome<TopicPartitionList> {
        let mut places = TopicPartitionList::new();
        for (partition, offset) in offsets {
            places.add_partition_offset(&self.topic, *partition, Offset::Offset(*offset))?;
        }
        Ok(places)
    }

    /// Records, each with its partition and offset, as soon as there are any.
    pub fn poll(&self, wait: Duration, most: usize) -> Outcome<Vec<(i32, i64, Value)>> {
        let (mut records, end) = (vec![], Instant::now() + wait);
        while records.len() < most {
            let left = match records.is_empty() {
                true => end.saturating_duration_since(Instant::now()),
                false => Duration::ZERO,
            };
            match self.consumer.poll(left) {
                Some(Ok(message)) => records.push(record(&message)?),
                Some(Err(error)) if fatal(&error) => return Err(error.into()),
                Some(Err(_)) => {} // it goes on by itself
                None if left.is_zero() => break,
                None => {}
            }
        }
        Ok(records)
    }

    pub fn assigned(&self) -> Outcome<Vec<i32>> {
        let assigned = self.consumer.assignment()?;
        Ok(assigned
            .elements()
            .iter()
            .map(|each| each.partition())
            .collect())
    }

    pub fn commit(&self, positions: &Offsets) -> Outcome<()> {
        Ok(self
            .consumer
            .commit(&self.places(positions)?, CommitMode::Sync)?)
    }
}

fn fatal(error: &KafkaError) -> bool {
    matches!(error, KafkaError::MessageConsumptionFatal(_))
}

fn record(message: &BorrowedMessage<'_>) -> Outcome<(i32, i64, Value)> {
    let mut headers = vec![];
    for header in message
        .headers()
        .into_iter()
        .flat_map(|headers| headers.iter())
    {
        headers.push(json!({"name": header.key, "value": shown(header.value)}));
    }
    let made = json!({
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": message.timestamp().to_millis(),
        "key": shown(message.key()),
        "value": shown(message.payload()),
        "headers": headers,
    });
    Ok((message.partition(), message.offset(), made))
}

pub fn committed(command: &Command) -> Outcome<Offsets> {
    let consumer = consumer(command, &[])?;
    let mut asked = TopicPartitionList::new();
    for partition in partitions(command, false)? {
        asked.add_partition(&command.topic, partition);
    }
    let found = consumer.committed_offsets(asked, LIMIT)?;
    let offsets = found
        .elements()
        .into_iter()
        .filter_map(|each| match each.offset() {
            Offset::Offset(offset) => Some((each.partition(), offset)),
            _ => None,
        });
    Ok(offsets.collect())
}

/// What went wrong meanwhile, which polls report.
fn said(consumer: &BaseConsumer<Errors>) -> String {
    let mut errors = vec![];
    while let Some(result) = consumer.poll(Duration::from_millis(100)) {
        errors.extend(result.err().map(|error| error.to_string()));
    }
    errors.append(&mut consumer.context().0.lock().unwrap());
    errors.join("; ")
}

pub fn topics(command: &Command) -> Outcome<Vec<String>> {
    let consumer = consumer(command, &[])?;
    let metadata = consumer
        .fetch_metadata(None, METADATA_LIMIT)
        .map_err(|error| format!("{error}; {}", said(&consumer)))?;
    Ok(metadata
        .topics()
        .iter()
        .map(|each| each.name().to_string())
        .collect())
}

/// `create`: of a topic that is created by asking, as a consumer asks.
pub fn partitions(command: &Command, create: bool) -> Outcome<Vec<i32>> {
    let create = if create { "true" } else { "false" };
    let consumer = consumer(command, &[("allow.auto.create.topics", create)])?;
    let metadata = consumer.fetch_metadata(Some(&command.topic), LIMIT)?;
    let topic = &metadata.topics()[0];
    if let Some(error) = topic.error() {
        return Err(rdkafka::types::RDKafkaErrorCode::from(error).into());
    }
    let mut numbers: Vec<i32> = topic.partitions().iter().map(|each| each.id()).collect();
    numbers.sort();
    Ok(numbers)
}

/// Waits until the topic is there.
pub fn known(command: &Command) -> Outcome<()> {
    let end = Instant::now() + LIMIT;
    loop {
        match partitions(command, true) {
            Ok(found) if !found.is_empty() => return Ok(()),
            Err(error) if Instant::now() > end => return Err(error),
            _ => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

pub fn offsets(command: &Command) -> Outcome<Offsets> {
    let consumer = consumer(command, &[])?;
    let mut found = Offsets::new();
    for partition in partitions(command, false)? {
        let offset = match command.timestamp {
            END => {
                consumer
                    .fetch_watermarks(&command.topic, partition, LIMIT)?
                    .1
            }
            BEGINNING => {
                consumer
                    .fetch_watermarks(&command.topic, partition, LIMIT)?
                    .0
            }
            time => {
                let mut asked = TopicPartitionList::new();
                asked.add_partition_offset(&command.topic, partition, Offset::Offset(time))?;
                match consumer.offsets_for_times(asked, LIMIT)?.elements()[0].offset() {
                    Offset::Offset(offset) => offset,
                    _ => -1,
                }
            }
        };
        found.insert(partition, offset);
    }
    Ok(found)
}

fn admin(command: &Command) -> Outcome<AdminClient<DefaultClientContext>> {
    Ok(AdminClient::from_config(&config(command))?)
}

fn options() -> AdminOptions {
    AdminOptions::new().operation_timeout(Some(LIMIT))
}

/// The future is looked at again and again: its answer is made in a thread of rdkafka's own.
fn waited<T>(future: impl Future<Output = T>) -> Outcome<T> {
    let (mut future, end) = (pin!(future), Instant::now() + LIMIT);
    while Instant::now() < end {
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Ok(answer);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err("no answer in time".into())
}

fn outcome(results: Vec<TopicResult>) -> Outcome<()> {
    for each in results {
        each.map_err(|(topic, code)| format!("{topic}: {code}"))?;
    }
    Ok(())
}

pub fn create_topic(command: &Command) -> Outcome<()> {
    let replication = TopicReplication::Fixed(-1);
    let mut topic = NewTopic::new(&command.topic, command.partitions, replication);
    for (name, value) in &command.configs {
        topic = topic.set(name, value);
    }
    outcome(waited(
        admin(command)?.create_topics([&topic], &options()),
    )??)
}

pub fn delete_topic(command: &Command) -> Outcome<()> {
    outcome(waited(
        admin(command)?.delete_topics(&[&command.topic], &options()),
    )??)
}
