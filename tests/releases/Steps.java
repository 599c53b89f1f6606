import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** The steps of clients.py, with kafka-clients of 0.10 and later: address, topic, group. */
public class Steps {
    interface Work { void run() throws Exception; }

    static String address, topic, group;

    public static void main(String[] words) {
        address = words[0];
        topic = words[1];
        group = words[2];
        step("produce", Steps::produce);
        step("read", Steps::read);
        step("group", Steps::group);
        System.exit(0);
    }

    static void step(String name, Work work) {
        try {
            work.run();
            System.out.println(name);
        } catch (Throwable error) {
            System.err.println(name + ": " + error);
        }
    }

    static Properties settings(String... more) {
        Properties found = new Properties();
        found.put("bootstrap.servers", address);
        String package_ = "org.apache.kafka.common.serialization.String";
        for (String each : new String[] {"key", "value"}) {
            found.put(each + ".serializer", package_ + "Serializer");
            found.put(each + ".deserializer", package_ + "Deserializer");
        }
        for (int i = 0; i < more.length; i += 2) found.put(more[i], more[i + 1]);
        return found;
    }

    static void produce() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings("max.block.ms", "15000"))) {
            for (String text : Arrays.asList("one", "two", "three"))
                producer.send(new ProducerRecord<>(topic, 0, null, text)).get(20, java.util.concurrent.TimeUnit.SECONDS);
        }
    }

    static void read() throws Exception {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings())) {
            TopicPartition first = new TopicPartition(topic, 0);
            consumer.assign(Collections.singletonList(first));
            consumer.seek(first, 0);
            expect(polled(consumer, 3), "one", "two", "three");
        }
    }

    static void group() throws Exception {
        for (String[] texts : new String[][] {{"one", "two"}, {"three"}}) {
            Properties asked = settings("group.id", group, "auto.offset.reset", "earliest",
                "enable.auto.commit", "false", "max.poll.records", "" + texts.length);
            try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(asked)) {
                consumer.subscribe(Collections.singletonList(topic));
                expect(polled(consumer, texts.length), texts);
                consumer.commitSync();
            }
        }
    }

    /** Up to 4.0 a poll takes milliseconds; since 2.0 it takes a duration. */
    @SuppressWarnings("unchecked")
    static ConsumerRecords<String, String> poll(KafkaConsumer<String, String> consumer) throws Exception {
        try {
            return (ConsumerRecords<String, String>) KafkaConsumer.class
                .getMethod("poll", Duration.class).invoke(consumer, Duration.ofMillis(500));
        } catch (NoSuchMethodException before) {
            return (ConsumerRecords<String, String>) KafkaConsumer.class
                .getMethod("poll", long.class).invoke(consumer, 500L);
        }
    }

    static List<String> polled(KafkaConsumer<String, String> consumer, int count) throws Exception {
        List<String> found = new ArrayList<>();
        long end = System.currentTimeMillis() + 20_000;
        while (found.size() < count && System.currentTimeMillis() < end)
            for (ConsumerRecord<String, String> each : poll(consumer)) found.add(each.value());
        return found;
    }

    static void expect(List<String> found, String... wanted) {
        if (!found.equals(Arrays.asList(wanted))) throw new IllegalStateException("" + found);
    }
}
