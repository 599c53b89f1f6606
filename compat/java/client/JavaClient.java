import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's Java client, controlled by lines of JSON.
 *
 * A command is {"id": n, "on": name, "do": verb, ...}; its answer {"id": n, ...}, or with "error"
 * and "message" the class and message of the exception. What has the same "on" (a producer, consumer
 * or admin, made by the verb "producer", "consumer" or "admin" with its "config") happens in order,
 * in a thread of its own; different ones side by side. Bytes are base64; absent means null.
 */
public final class JavaClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, ExecutorService> THREADS = new ConcurrentHashMap<>();
    private static final Map<String, Object> THINGS = new ConcurrentHashMap<>();
    private static final Map<String, List<Future<RecordMetadata>>> SENT = new ConcurrentHashMap<>();

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        BufferedReader commands =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            JsonNode command = JSON.readTree(line);
            THREADS.computeIfAbsent(
                command.get("on").asText(), name -> Executors.newSingleThreadExecutor()
            ).submit(() -> {
                answer(answers, command);
                if (command.get("do").asText().equals("close")) {
                    forget(command.get("on").asText());
                }
            });
        }
        System.exit(0);
    }

    /** A thing was closed: its thread ends. */
    private static void forget(String name) {
        THINGS.remove(name);
        ExecutorService thread = THREADS.remove(name);
        if (thread != null) {
            thread.shutdown();
        }
    }

    private static void answer(PrintStream answers, JsonNode command) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            perform(command, answer);
        } catch (Throwable thrown) {
            Throwable cause = thrown;
            while (cause instanceof ExecutionException && cause.getCause() != null) {
                cause = cause.getCause();
            }
            answer.removeAll();
            answer.put("error", cause.getClass().getSimpleName());
            answer.put("message", String.valueOf(cause.getMessage()));
        }
        answer.set("id", command.get("id"));
        synchronized (answers) {
            answers.println(answer);
            answers.flush();
        }
    }

    private static void perform(JsonNode command, ObjectNode answer) throws Exception {
        String name = command.get("on").asText();
        String verb = command.get("do").asText();
        switch (verb) {
            case "producer" -> THINGS.put(name, new KafkaProducer<>(
                config(command), new ByteArraySerializer(), new ByteArraySerializer()));
            case "consumer" -> THINGS.put(name, new KafkaConsumer<>(
                config(command), new ByteArrayDeserializer(), new ByteArrayDeserializer()));
            case "admin" -> THINGS.put(name, Admin.create(config(command)));
            default -> {
                Object thing = THINGS.get(name);
                if (thing instanceof KafkaProducer) {
                    produce(producer(thing), verb, command, answer);
                } else if (thing instanceof KafkaConsumer) {
                    consume(consumer(thing), verb, command, answer);
                } else {
                    administer((Admin) thing, verb, command, answer);
                }
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static KafkaProducer<byte[], byte[]> producer(Object thing) {
        return (KafkaProducer<byte[], byte[]>) thing;
    }

    @SuppressWarnings("unchecked")
    private static KafkaConsumer<byte[], byte[]> consumer(Object thing) {
        return (KafkaConsumer<byte[], byte[]>) thing;
    }

    private static void produce(
        KafkaProducer<byte[], byte[]> producer, String verb, JsonNode command, ObjectNode answer
    ) throws Exception {
        switch (verb) {
            case "send" -> send(producer, command, answer);
            case "outcomes" -> outcomes(command, answer);
            case "init_transactions" -> producer.initTransactions();
            case "begin_transaction" -> producer.beginTransaction();
            case "commit_transaction" -> producer.commitTransaction();
            case "abort_transaction" -> producer.abortTransaction();
            case "send_offsets" -> producer.sendOffsetsToTransaction(
                offsets(command.get("offsets")), groupMetadata(command));
            case "close" -> producer.close(Duration.ofMillis(command.get("ms").asLong()));
            default -> throw new IllegalArgumentException(verb);
        }
    }

    /** That of the "consumer", as it is now; or of a "member" of a "group" in a "generation". */
    private static ConsumerGroupMetadata groupMetadata(JsonNode command) {
        if (command.hasNonNull("consumer")) {
            return consumer(THINGS.get(command.get("consumer").asText())).groupMetadata();
        }
        return new ConsumerGroupMetadata(
            command.get("group").asText(), command.get("generation").asInt(),
            command.get("member").asText(), Optional.empty());
    }

    /**
     * Send every record, wait for all unless "later", and answer with partitions and offsets; the
     * "outcomes" of what was sent "later" can be asked for.
     */
    private static void send(
        KafkaProducer<byte[], byte[]> producer, JsonNode command, ObjectNode answer
    ) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        String topic = command.get("topic").asText();
        for (JsonNode row : command.get("records")) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic,
                row.hasNonNull("partition") ? row.get("partition").asInt() : null,
                row.hasNonNull("timestamp") ? row.get("timestamp").asLong() : null,
                bytes(row.get("key")),
                bytes(row.get("value")));
            for (JsonNode header : row.get("headers")) {
                record.headers().add(header.get(0).asText(), bytes(header.get(1)));
            }
            sent.add(producer.send(record));
        }
        if (command.hasNonNull("later")) {
            SENT.computeIfAbsent(command.get("on").asText(), name -> new ArrayList<>()).addAll(sent);
            return;
        }
        producer.flush();
        ArrayNode places = answer.putArray("places");
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata place = future.get();
            places.addArray().add(place.partition()).add(place.hasOffset() ? place.offset() : -1);
        }
    }

    /** Of each record that was sent "later": null, its place, or the error and its message. */
    private static void outcomes(JsonNode command, ObjectNode answer) throws InterruptedException {
        ArrayNode rows = answer.putArray("outcomes");
        for (Future<RecordMetadata> future
            : SENT.getOrDefault(command.get("on").asText(), List.of())) {
            if (!future.isDone()) {
                rows.addNull();
                continue;
            }
            try {
                RecordMetadata place = future.get();
                rows.addArray().add(place.partition()).add(place.hasOffset() ? place.offset() : -1);
            } catch (ExecutionException failed) {
                Throwable cause = failed.getCause();
                rows.addArray().add(cause.getClass().getSimpleName())
                    .add(String.valueOf(cause.getMessage()));
            }
        }
    }

    private static void consume(
        KafkaConsumer<byte[], byte[]> consumer, String verb, JsonNode command, ObjectNode answer
    ) {
        switch (verb) {
            case "subscribe" -> consumer.subscribe(texts(command.get("topics")));
            case "subscribe_pattern" ->
                consumer.subscribe(Pattern.compile(command.get("pattern").asText()));
            case "assign" -> consumer.assign(partitions(command.get("partitions")));
            case "seek" -> offsets(command.get("offsets"))
                .forEach((place, offset) -> consumer.seek(place, offset.offset()));
            case "rewind" -> rewind(consumer);
            case "poll" -> poll(consumer, command, answer);
            case "positions" -> {
                ArrayNode rows = answer.putArray("positions");
                for (TopicPartition place : consumer.assignment()) {
                    rows.addArray().add(place.topic()).add(place.partition())
                        .add(consumer.position(place, Duration.ofSeconds(10)));
                }
            }
            case "commit" -> {
                if (command.hasNonNull("offsets")) {
                    consumer.commitSync(offsets(command.get("offsets")));
                } else {
                    consumer.commitSync();
                }
            }
            case "close" -> consumer.close(Duration.ofMillis(command.get("ms").asLong()));
            default -> throw new IllegalArgumentException(verb);
        }
    }

    /** Have it read from what its group has committed, or else from the beginning. */
    private static void rewind(KafkaConsumer<byte[], byte[]> consumer) {
        consumer.committed(consumer.assignment()).forEach((place, found) -> {
            if (found == null) {
                consumer.seekToBeginning(List.of(place));
            } else {
                consumer.seek(place, found.offset());
            }
        });
    }

    private static void poll(
        KafkaConsumer<byte[], byte[]> consumer, JsonNode command, ObjectNode answer
    ) {
        ArrayNode rows = answer.putArray("records");
        Duration wait = Duration.ofMillis(command.get("ms").asLong());
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(wait)) {
            ObjectNode row = rows.addObject();
            row.put("topic", record.topic()).put("partition", record.partition());
            row.put("offset", record.offset()).put("timestamp", record.timestamp());
            row.put("key", text(record.key())).put("value", text(record.value()));
            ArrayNode headers = row.putArray("headers");
            for (Header header : record.headers()) {
                headers.addArray().add(header.key()).add(text(header.value()));
            }
        }
        ArrayNode assigned = answer.putArray("assigned");
        for (TopicPartition place : consumer.assignment()) {
            assigned.addArray().add(place.topic()).add(place.partition());
        }
        try {
            answer.put("generation", consumer.groupMetadata().generationId());
            answer.put("member", consumer.groupMetadata().memberId());
        } catch (InvalidGroupIdException noGroup) {
            answer.put("generation", -1);
            answer.put("member", "");
        }
    }

    private static void administer(
        Admin admin, String verb, JsonNode command, ObjectNode answer
    ) throws Exception {
        switch (verb) {
            case "list_topics" -> {
                ArrayNode names = answer.putArray("topics");
                admin.listTopics().names().get().forEach(names::add);
            }
            case "partitions" -> {
                List<String> wanted = List.of(command.get("topic").asText());
                answer.put("count", admin.describeTopics(wanted).allTopicNames().get()
                    .get(wanted.get(0)).partitions().size());
            }
            case "create_topic" -> {
                Map<String, String> configs = new HashMap<>();
                command.get("configs").properties()
                    .forEach(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
                admin.createTopics(List.of(new NewTopic(
                    command.get("topic").asText(),
                    Optional.of(command.get("partitions").asInt()), Optional.empty())
                    .configs(configs))).all().get();
            }
            case "delete_topic" ->
                admin.deleteTopics(List.of(command.get("topic").asText())).all().get();
            case "list_offsets" -> {
                long time = command.get("timestamp").asLong();
                Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
                for (TopicPartition place : partitions(command.get("partitions"))) {
                    asked.put(place, time == -1 ? OffsetSpec.latest() : OffsetSpec.forTimestamp(time));
                }
                ArrayNode rows = answer.putArray("offsets");
                admin.listOffsets(asked).all().get().forEach((place, found) ->
                    rows.addArray().add(place.partition()).add(found.offset()));
            }
            case "committed" -> {
                ArrayNode rows = answer.putArray("offsets");
                admin.listConsumerGroupOffsets(command.get("group").asText())
                    .partitionsToOffsetAndMetadata().get().forEach((place, found) -> {
                        if (found != null) {
                            rows.addArray().add(place.topic()).add(place.partition())
                                .add(found.offset());
                        }
                    });
            }
            case "close" -> admin.close();
            default -> throw new IllegalArgumentException(verb);
        }
    }

    private static Properties config(JsonNode command) {
        Properties config = new Properties();
        command.get("config").properties()
            .forEach(entry -> config.put(entry.getKey(), entry.getValue().asText()));
        return config;
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(item -> texts.add(item.asText()));
        return texts;
    }

    private static List<TopicPartition> partitions(JsonNode rows) {
        List<TopicPartition> places = new ArrayList<>();
        rows.forEach(row -> places.add(new TopicPartition(row.get(0).asText(), row.get(1).asInt())));
        return places;
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode rows) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        rows.forEach(row -> offsets.put(
            new TopicPartition(row.get(0).asText(), row.get(1).asInt()),
            new OffsetAndMetadata(row.get(2).asLong())));
        return offsets;
    }

    private static byte[] bytes(JsonNode text) {
        return text == null || text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
