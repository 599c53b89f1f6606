import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Each order becomes an invoice, and is accepted when that is written. */
public class Sharing {
    public static void main(String[] arguments) throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"));
        try (Admin admin = Admin.create(config)) {
            ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, "application");
            AlterConfigOp begin = new AlterConfigOp(
                    new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
            AlterConfigOp lock = new AlterConfigOp(
                    new ConfigEntry("share.record.lock.duration.ms", "15000"), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(group, List.of(begin, lock))).all().get();
        }
        Properties reading = new Properties();
        reading.putAll(config);
        reading.put("group.id", "application");
        reading.put("share.acknowledgement.mode", "explicit");
        KafkaShareConsumer<String, String> consumer =
                new KafkaShareConsumer<>(reading, new StringDeserializer(), new StringDeserializer());
        KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        consumer.subscribe(List.of("orders"));
        while (true) {
            for (ConsumerRecord<String, String> order : consumer.poll(Duration.ofSeconds(1))) {
                producer.send(new ProducerRecord<>("invoices", order.key(), order.value())).get();
                consumer.acknowledge(order, AcknowledgeType.ACCEPT);
            }
            consumer.commitSync();
        }
    }
}
