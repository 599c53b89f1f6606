import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Share consumers of Kafka's Java client, controlled by lines of JSON: each names a consumer ("on")
 * and what it does ("do"). Answers have "records", or "results" by partition (null is success).
 */
public final class ShareClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, KafkaShareConsumer<String, String>> CONSUMERS = new HashMap<>();
    private static final Map<String, ConsumerRecord<String, String>> POLLED = new HashMap<>();

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        BufferedReader commands =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                carryOut(JSON.readTree(line), answer);
            } catch (Exception error) {
                answer.put("error", error.getClass().getSimpleName());
                answer.put("message", String.valueOf(error.getMessage()));
            }
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
    }

    private static void carryOut(JsonNode command, ObjectNode answer) {
        String name = command.get("on").asText();
        KafkaShareConsumer<String, String> consumer = CONSUMERS.get(name);
        switch (command.get("do").asText()) {
            case "open":
                Properties config = new Properties();
                command.get("config").fields().forEachRemaining(
                    each -> config.put(each.getKey(), each.getValue().asText()));
                consumer = new KafkaShareConsumer<>(
                    config, new StringDeserializer(), new StringDeserializer());
                consumer.subscribe(List.of(command.get("topic").asText()));
                CONSUMERS.put(name, consumer);
                break;
            case "poll":
                ArrayNode records = answer.putArray("records");
                for (ConsumerRecord<String, String> each
                        : consumer.poll(Duration.ofMillis(command.get("ms").asLong()))) {
                    POLLED.put(name + each.partition() + ":" + each.offset(), each);
                    ObjectNode record = records.addObject();
                    record.put("partition", each.partition());
                    record.put("offset", each.offset());
                    record.put("value", each.value());
                    Optional<Short> count = each.deliveryCount();
                    count.ifPresent(value -> record.put("delivery", value.intValue()));
                }
                break;
            case "acknowledge":
                consumer.acknowledge(
                    POLLED.get(name + command.get("partition").asInt() + ":"
                        + command.get("offset").asLong()),
                    AcknowledgeType.valueOf(command.get("type").asText()));
                break;
            case "commit":
                ObjectNode results = answer.putObject("results");
                Map<TopicIdPartition, Optional<KafkaException>> done =
                    consumer.commitSync(Duration.ofSeconds(30));
                done.forEach((partition, error) -> results.put(
                    String.valueOf(partition.partition()),
                    error.map(each -> each.getClass().getSimpleName()).orElse(null)));
                break;
            case "close":
                consumer.close(Duration.ofSeconds(10));
                CONSUMERS.remove(name);
                break;
            default:
                throw new IllegalArgumentException(command.toString());
        }
    }
}
