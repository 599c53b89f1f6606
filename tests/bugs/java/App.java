import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A service with Kafka's own client that has a bug, or the same without it: BUG bug|right. */
public final class App {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(100);
    private static boolean right;

    private App() {}

    public static void main(String[] args) throws Exception {
        right = args[1].equals("right");
        switch (args[0]) {
            case "auto_commit_with_a_worker" -> autoCommitWithAWorker();
            case "delivery_errors_ignored" -> deliveryErrorsIgnored();
            case "isolation_by_default" -> isolationByDefault();
            case "latest_by_default" -> latestByDefault();
            case "poison" -> poison();
            case "offset_not_the_next" -> inTransactions();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    // The services. Whatever else is thrown ends the process, and the next one goes on at what is
    // committed.

    private static void autoCommitWithAWorker() throws Exception {
        if (right) {
            copy(Map.of());
        }
        Map<String, String> more =
                Map.of("enable.auto.commit", "true", "auto.commit.interval.ms", "30");
        KafkaConsumer<String, String> consumer = newConsumer(more);
        KafkaProducer<String, String> producer = newProducer(Map.of());
        ExecutorService worker = Executors.newSingleThreadExecutor();
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                worker.execute(() -> {
                    sleep(10);
                    write(producer, record);
                });
            }
        }
    }

    private static void deliveryErrorsIgnored() throws Exception {
        if (right) {
            copy(Map.of());
        }
        KafkaConsumer<String, String> consumer = newConsumer(Map.of());
        KafkaProducer<String, String> producer = newProducer(Map.of());
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                ProducerRecord<String, String> made = invoice(record);
                if (made != null) {
                    producer.send(made);
                }
                producer.flush();
                commit(consumer, record);
            }
        }
    }

    private static void isolationByDefault() throws Exception {
        copy(Map.of("isolation.level", right ? "read_committed" : "read_uncommitted"));
    }

    private static void latestByDefault() throws Exception {
        copy(Map.of("auto.offset.reset", right ? "earliest" : "latest"));
    }

    private static void poison() throws Exception {
        if (right) {
            copy(Map.of());
        }
        KafkaConsumer<String, String> consumer = newConsumer(Map.of());
        KafkaProducer<String, String> producer = newProducer(Map.of());
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                if (record.value() != null) {
                    JsonNode order = JSON.readTree(record.value());
                    producer.send(invoice(record.key(), order)).get();
                }
                commit(consumer, record);
            }
        }
    }

    private static void copy(Map<String, String> more) throws Exception {
        KafkaConsumer<String, String> consumer = newConsumer(more);
        KafkaProducer<String, String> producer = newProducer(Map.of());
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                write(producer, record);
                if (!commit(consumer, record)) {
                    break; // what follows is another's, who reads it again
                }
            }
        }
    }

    private static void inTransactions() throws Exception {
        KafkaConsumer<String, String> consumer = newConsumer(Map.of());
        String own = "app-" + System.getenv("SERVICE_INSTANCE");
        KafkaProducer<String, String> producer =
                newProducer(Map.of("transactional.id", own, "transaction.timeout.ms", "20000"));
        producer.initTransactions();
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                producer.beginTransaction();
                ProducerRecord<String, String> made = invoice(record);
                if (made != null) {
                    producer.send(made);
                }
                producer.sendOffsetsToTransaction(
                        at(record, record.offset() + (right ? 1 : 0)), consumer.groupMetadata());
                producer.commitTransaction();
            }
        }
    }

    // What they are made of.

    private static KafkaConsumer<String, String> newConsumer(Map<String, String> more) {
        Properties config = new Properties();
        config.put("bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"));
        config.put("group.id", "app");
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        config.put("isolation.level", "read_committed");
        config.put("heartbeat.interval.ms", "100");
        config.put("fetch.max.wait.ms", "20");
        config.put("retry.backoff.ms", "10");
        config.put("reconnect.backoff.ms", "1");
        config.putAll(more);
        StringDeserializer text = new StringDeserializer();
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config, text, text);
        consumer.subscribe(List.of("orders"));
        return consumer;
    }

    private static KafkaProducer<String, String> newProducer(Map<String, String> more) {
        Properties config = new Properties();
        config.put("bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"));
        config.put("linger.ms", "0");
        config.put("retry.backoff.ms", "10");
        config.put("reconnect.backoff.ms", "1");
        config.putAll(more);
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    /** Of an order; null of what is none: poison, a tombstone. */
    private static ProducerRecord<String, String> invoice(ConsumerRecord<String, String> record) {
        try {
            JsonNode order = record.value() == null ? null : JSON.readTree(record.value());
            return order != null && order.has("id") ? invoice(record.key(), order) : null;
        } catch (JsonProcessingException error) {
            return null;
        }
    }

    private static ProducerRecord<String, String> invoice(String key, JsonNode order) {
        ObjectNode value = JSON.createObjectNode();
        value.set("id", order.get("id"));
        value.set("paid", order.get("amount"));
        return new ProducerRecord<>("invoices", key, value.toString());
    }

    private static void write(
            KafkaProducer<String, String> producer, ConsumerRecord<String, String> record) {
        ProducerRecord<String, String> made = invoice(record);
        if (made != null) {
            try {
                producer.send(made).get();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
    }

    /** Returns whether it was: what is refused is read again by somebody. */
    private static boolean commit(
            KafkaConsumer<String, String> consumer, ConsumerRecord<String, String> record) {
        try {
            consumer.commitSync(at(record, record.offset() + 1));
            return true;
        } catch (CommitFailedException | RebalanceInProgressException error) {
            System.out.println("not committed: " + error.getMessage());
            return false;
        }
    }

    private static Map<TopicPartition, OffsetAndMetadata> at(
            ConsumerRecord<String, String> record, long offset) {
        TopicPartition place = new TopicPartition(record.topic(), record.partition());
        return Map.of(place, new OffsetAndMetadata(offset));
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
