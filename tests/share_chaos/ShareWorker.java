import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.errors.InvalidRecordStateException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A share consumer of Kafka's Java client: what worker.py is with confluent-kafka's. */
public final class ShareWorker {
    private static final double NAPS = 0.2;
    private static final int NAP_MS = 300;
    private static final Map<String, AcknowledgeType> ASKED = new HashMap<>();
    private static volatile boolean isOver = false;

    public static void main(String[] arguments) throws Exception {
        PrintWriter file = new PrintWriter(arguments[0], "UTF-8");
        JsonNode settings = new ObjectMapper().readTree(arguments[1]);
        Random random = new Random(settings.get("seed").asLong());
        boolean calm = settings.get("calm").asBoolean();
        int poisonEach = Integer.parseInt(arguments[2]);
        Thread end = new Thread(ShareWorker::awaitEnd);
        end.setDaemon(true);
        end.start();
        Properties config = new Properties();
        config.put("bootstrap.servers", settings.get("bootstrap").asText());
        config.put("group.id", settings.get("group").asText());
        config.put("share.acknowledgement.mode", "explicit");
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(
                config, new StringDeserializer(), new StringDeserializer())) {
            consumer.setAcknowledgementCommitCallback(
                (offsets, error) -> told(file, offsets, error));
            consumer.subscribe(List.of(settings.get("topic").asText()));
            while (!isOver) {
                try {
                    round(consumer, file, random, calm, poisonEach);
                } catch (Exception error) {
                    file.println("failed " + error);
                    file.flush();
                    Thread.sleep(200);
                }
            }
        }
        file.close();
    }

    private static void awaitEnd() {
        try {
            System.in.readAllBytes();
        } catch (Exception error) {
            error.printStackTrace();
        }
        isOver = true;
    }

    private static void round(
            KafkaShareConsumer<String, String> consumer, PrintWriter file, Random random,
            boolean calm, int poisonEach) throws Exception {
        ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(300));
        for (ConsumerRecord<String, String> each : records) {
            file.println("got " + place(each) + " " + each.deliveryCount().get());
        }
        file.flush();
        if (!calm && !records.isEmpty() && random.nextDouble() < NAPS) {
            Thread.sleep(random.nextInt(NAP_MS));
        }
        for (ConsumerRecord<String, String> each : records) {
            AcknowledgeType type = type(Integer.parseInt(each.value()), random, calm, poisonEach);
            ASKED.put(place(each), type);
            file.println("asked " + place(each) + " " + type.name());
            consumer.acknowledge(each, type);
        }
        file.flush();
        if (!records.isEmpty()) {
            consumer.commitSync(Duration.ofSeconds(10));
        }
    }

    private static AcknowledgeType type(int number, Random random, boolean calm, int poisonEach) {
        if (number % poisonEach == 0) {
            return AcknowledgeType.RELEASE;
        }
        double drawn = calm ? 1.0 : random.nextDouble();
        return drawn < 0.1 ? AcknowledgeType.RELEASE
            : drawn < 0.15 ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT;
    }

    private static String place(ConsumerRecord<String, String> record) {
        return record.partition() + " " + record.offset();
    }

    private static void told(
            PrintWriter file, Map<TopicIdPartition, Set<Long>> offsets, Exception error) {
        String word = error == null ? "done"
            : error instanceof InvalidRecordStateException ? "refused" : "unknown";
        if (error != null) {
            file.println("failed " + error.getClass().getSimpleName());
        }
        offsets.forEach((partition, numbers) -> numbers.forEach(offset -> {
            String place = partition.partition() + " " + offset;
            AcknowledgeType type = ASKED.get(place);
            file.println(word + " " + place + " " + (type == null ? null : type.name()));
        }));
        file.flush();
    }
}
