//! Kafka clients of Rust with the verbs of compat/clients/verbs.py: the client's name is the
//! argument. It answers a line of JSON on standard output for each on standard input, in order, and
//! has one consumer at most. Bytes travel in base64.

mod kafka;

use serde::Deserialize;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Duration;

pub type Outcome<T> = Result<T, Box<dyn Error>>;
/// By partition.
pub type Offsets = BTreeMap<i32, i64>;
/// Of a verb.
pub const LIMIT: Duration = Duration::from_secs(30);
pub const END: i64 = -1;
pub const BEGINNING: i64 = -2;

/// A line of the input; a verb takes what it needs of it.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub struct Command {
    r#do: String,
    pub bootstrap: String,
    pub security: Security,
    pub topic: String,
    pub records: Vec<Record>,
    pub acks: i32,
    pub compression: String,
    pub idempotent: bool,
    pub partition: Option<i32>,
    pub transactional_id: String,
    pub abort: bool,
    pub group: String,
    pub protocol: String,
    pub beginning: bool,
    pub committed: bool,
    pub session_ms: i32,
    pub heartbeat_ms: i32,
    ms: u64,
    max: usize,
    pub partitions: i32,
    pub configs: BTreeMap<String, String>,
    pub timestamp: i64,
}

/// How to log in; certificates and keys are PEM.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub struct Security {
    pub protocol: String,
    pub mechanism: String,
    pub user: String,
    pub password: String,
    pub ca: String,
    pub certificate: String,
    pub key: String,
}

#[derive(Deserialize, Clone)]
pub struct Record {
    pub timestamp: Option<i64>,
    pub key: Option<String>,
    pub value: Option<String>,
    pub headers: Vec<Header>,
}

#[derive(Deserialize, Clone)]
pub struct Header {
    pub name: String,
    pub value: Option<String>,
}

#[derive(Default)]
struct Session {
    consumer: Option<kafka::Member>,
    opened: Command,
    positions: Offsets,
}

impl Session {
    fn answer(&mut self, command: &Command) -> Outcome<Value> {
        Ok(match command.r#do.as_str() {
            "produce" => json!({"places": kafka::produce(command)?}),
            "consumer" => self.open(command)?,
            "poll" => json!({"records": self.poll(command)?}),
            "positions" => json!({"offsets": self.positions}),
            "commit" => self.member()?.commit(&self.positions).map(|_| json!({}))?,
            "close" => {
                self.consumer = None; // it leaves the group
                json!({})
            }
            "committed" => json!({"offsets": kafka::committed(command)?}),
            "topics" => json!({"topics": kafka::topics(command)?}),
            "partitions" => json!({"partitions": kafka::partitions(command, false)?}),
            "offsets" => json!({"offsets": kafka::offsets(command)?}),
            "create_topic" => kafka::create_topic(command).map(|_| json!({}))?,
            "delete_topic" => kafka::delete_topic(command).map(|_| json!({}))?,
            other => Err(format!("no such verb: {other}"))?,
        })
    }

    fn member(&self) -> Outcome<&kafka::Member> {
        Ok(self.consumer.as_ref().ok_or("no consumer")?)
    }

    fn open(&mut self, command: &Command) -> Outcome<Value> {
        self.opened = command.clone();
        self.opened.timestamp = if command.beginning { BEGINNING } else { END };
        self.positions = Offsets::new();
        if command.group.is_empty() {
            kafka::known(command)?;
            self.positions = kafka::offsets(&self.opened)?;
        }
        self.consumer = Some(kafka::Member::new(command, &self.positions)?);
        Ok(json!({}))
    }

    fn poll(&mut self, command: &Command) -> Outcome<Vec<Value>> {
        let member = self.member()?;
        let records = member.poll(Duration::from_millis(command.ms), command.max)?;
        let assigned = member.assigned()?;
        self.place(&assigned)?;
        for (partition, offset, _) in &records {
            if let Some(position) = self.positions.get_mut(partition) {
                *position = offset + 1;
            }
        }
        Ok(records.into_iter().map(|(_, _, record)| record).collect())
    }

    /// Where a member begins with partitions that it has just got.
    fn place(&mut self, assigned: &[i32]) -> Outcome<()> {
        self.positions
            .retain(|partition, _| assigned.contains(partition));
        if assigned.len() == self.positions.len() {
            return Ok(());
        }
        let starts = kafka::offsets(&self.opened)?;
        let committed = kafka::committed(&self.opened)?;
        for partition in assigned {
            let start = committed.get(partition).unwrap_or(&starts[partition]);
            self.positions.entry(*partition).or_insert(*start);
        }
        Ok(())
    }
}

fn main() -> Outcome<()> {
    let mut session = Session::default();
    for line in std::io::stdin().lock().lines() {
        let command: Command = serde_json::from_str(&line?)?;
        let answer = session
            .answer(&command)
            .unwrap_or_else(|error| json!({"error": error.to_string()}));
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
