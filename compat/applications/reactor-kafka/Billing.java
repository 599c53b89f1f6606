import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import reactor.kafka.receiver.KafkaReceiver;
import reactor.kafka.receiver.ReceiverOptions;
import reactor.kafka.sender.KafkaSender;
import reactor.kafka.sender.SenderOptions;
import reactor.kafka.sender.SenderRecord;
import reactor.kafka.sender.TransactionManager;

/** The orders of each poll become invoices, in one transaction with their offsets. */
public class Billing {
    public static void main(String[] arguments) {
        String address = System.getenv("KAFKA_BOOTSTRAP_SERVERS");
        KafkaSender<String, String> sender = KafkaSender.create(SenderOptions.<String, String>create(Map.of(
                        "bootstrap.servers", address,
                        "transactional.id", "application",
                        "transaction.timeout.ms", 10000))
                .withKeySerializer(new StringSerializer())
                .withValueSerializer(new StringSerializer()));
        ReceiverOptions<String, String> reading = ReceiverOptions.<String, String>create(Map.of(
                        "bootstrap.servers", address,
                        "group.id", "application",
                        "auto.offset.reset", "earliest",
                        "isolation.level", "read_committed",
                        "max.poll.records", 20,
                        "session.timeout.ms", 6000,
                        "heartbeat.interval.ms", 500))
                .withKeyDeserializer(new StringDeserializer())
                .withValueDeserializer(new StringDeserializer())
                .subscription(List.of("orders"));
        TransactionManager transactions = sender.transactionManager();
        try {
            KafkaReceiver.create(reading)
                    .receiveExactlyOnce(transactions)
                    .concatMap(orders -> sender.send(orders.map(order -> SenderRecord.create(
                                    new ProducerRecord<>("invoices", order.key(), order.value()), order.offset())))
                            .then(transactions.commit()))
                    .onErrorResume(error -> transactions.abort().then(reactor.core.publisher.Mono.error(error)))
                    .blockLast();
        } catch (RuntimeException error) {
            error.printStackTrace();
        }
        Runtime.getRuntime().halt(1); // the next process goes on at what is committed
    }
}
