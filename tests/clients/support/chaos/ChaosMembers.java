import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Members of a group in a process that others may kill and pause; member.py says what they
 * say. Arguments: topic, how many members, then configs as name=value. All leave when standard
 * input ends.
 */
public final class ChaosMembers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static volatile boolean isOver;

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        for (int i = 2; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            config.put(pair[0], pair[1]);
        }
        List<Thread> threads = new ArrayList<>();
        for (int who = 0; who < Integer.parseInt(args[1]); who++) {
            Member member = new Member(who, args[0], config);
            threads.add(new Thread(member::run));
        }
        threads.forEach(Thread::start);
        while (System.in.read() >= 0) {
            continue;
        }
        isOver = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(0);
    }

    private static final class Member implements ConsumerRebalanceListener {
        private final int who;
        private final KafkaConsumer<byte[], byte[]> consumer;
        private List<long[]> runs = new ArrayList<>();
        private boolean owesCommit;

        Member(int who, String topic, Properties config) {
            this.who = who;
            this.consumer = new KafkaConsumer<>(
                config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(List.of(topic), this);
        }

        void run() {
            tell(event("started"));
            while (!isOver) {
                try {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                        saw(record);
                    }
                    if (owesCommit) {
                        tellRecords();
                        consumer.commitSync();
                        owesCommit = false;
                    }
                } catch (KafkaException thrown) {
                    tell(event("error").put("text", thrown.toString()));
                    LockSupport.parkNanos(50_000_000);
                }
            }
            consumer.close();
            tell(event("closed"));
        }

        private void saw(ConsumerRecord<byte[], byte[]> record) {
            owesCommit = true;
            String value = new String(record.value(), StandardCharsets.UTF_8);
            if (!value.equals(record.partition() + ":" + record.offset())) {
                tell(event("wrong").put("partition", record.partition())
                    .put("offset", record.offset()).put("value", value));
            }
            long[] last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
            if (last != null && last[0] == record.partition() && last[2] + 1 == record.offset()) {
                last[2] = record.offset();
            } else {
                runs.add(new long[] {record.partition(), record.offset(), record.offset()});
            }
        }

        private void tellRecords() {
            List<long[]> told = runs;
            runs = new ArrayList<>();
            if (told.isEmpty()) {
                return;
            }
            ObjectNode event = event("records");
            ArrayNode rows = event.putArray("runs");
            for (long[] run : told) {
                rows.addArray().add(run[0]).add(run[1]).add(run[2]);
            }
            write(event);
        }

        private void tell(ObjectNode event) {
            tellRecords();
            write(event);
        }

        private ObjectNode event(String what) {
            return JSON.createObjectNode()
                .put("at", System.nanoTime() / 1e9).put("who", who).put("is", what);
        }

        private static void write(ObjectNode event) {
            synchronized (System.out) {
                System.out.println(event);
                System.out.flush();
            }
        }

        private ObjectNode about(String what, Collection<TopicPartition> partitions) {
            ObjectNode event = event(what);
            ArrayNode numbers = event.putArray("partitions");
            partitions.forEach(place -> numbers.add(place.partition()));
            return event;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            tell(about("assigned", partitions)
                .put("generation", consumer.groupMetadata().generationId())
                .put("member", consumer.groupMetadata().memberId()));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            tell(about("revoked", partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            tell(about("lost", partitions));
        }
    }
}
