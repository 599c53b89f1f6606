import io.smallrye.reactive.messaging.kafka.Record;
import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Outgoing;
import org.jboss.weld.environment.se.Weld;

/** Each order becomes an invoice, and is acknowledged after that; those that end in 7 are refused. */
@ApplicationScoped
public class Billing {
    @Incoming("orders")
    @Outgoing("invoices")
    public Record<String, String> bill(Record<String, String> order) {
        if (order.value().matches(".*\"order\": \\d*7,.*")) {
            throw new IllegalArgumentException("refused");
        }
        return order;
    }

    public static void main(String[] arguments) throws Exception {
        new Weld().addBeanClass(Billing.class).initialize();
        Thread.currentThread().join();
    }
}
