import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * One share consumer that takes so many records and accepts them: BOOTSTRAP TOPIC GROUP MODE COUNT
 * WARM. It prints "warm" when it has had WARM of them, and "done" after the last.
 */
public final class ShareBench {
    public static void main(String[] arguments) {
        Properties config = new Properties();
        config.put("bootstrap.servers", arguments[0]);
        config.put("group.id", arguments[2]);
        config.put("share.acknowledgement.mode", arguments[3]);
        boolean isExplicit = arguments[3].equals("explicit");
        long count = Long.parseLong(arguments[4]);
        long warm = Long.parseLong(arguments[5]);
        long got = 0;
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(
                config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(arguments[1]));
            while (got < count) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(500));
                if (isExplicit) {
                    for (ConsumerRecord<byte[], byte[]> each : records) {
                        consumer.acknowledge(each, AcknowledgeType.ACCEPT);
                    }
                }
                boolean wasWarm = got >= warm;
                got += records.count();
                if (!wasWarm && got >= warm) {
                    System.out.println("warm " + got);
                    System.out.flush();
                }
            }
            consumer.commitSync(Duration.ofSeconds(30));
            System.out.println("done " + got);
            System.out.flush();
        }
    }
}
