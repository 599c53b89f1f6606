import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestAndSize;

/**
 * How Kafka's own requests are refused as a whole.
 *
 *   {"do": "refuse", "api", "version", "bytes", "code"}    the response, or nothing where there is none
 */
final class Refusals {
    static void refuse(JsonNode command, ObjectNode answer) throws Exception {
        short version = (short) command.get("version").asInt();
        ApiKeys api = ApiKeys.forId(command.get("api").asInt());
        AbstractRequest request = parsed(api, version, ByteBuffer.wrap(command.get("bytes").binaryValue()));
        Errors error = Errors.forCode((short) command.get("code").asInt());
        AbstractResponse response = request.getErrorResponse(0, error.exception());
        if (response != null) {
            answer.put("bytes", JavaWire.bytes((Message) response.data(), version));
        }
    }

    /** Before 4.1 a request was parsed from a buffer, which holds what is now given as a Readable. */
    private static AbstractRequest parsed(ApiKeys api, short version, ByteBuffer buffer) throws Exception {
        for (Method method : AbstractRequest.class.getMethods()) {
            if (method.getName().equals("parseRequest")) {
                boolean isBuffer = method.getParameterTypes()[2] == ByteBuffer.class;
                Object body = isBuffer ? buffer : new ByteBufferAccessor(buffer);
                Object parsed = method.invoke(null, api, version, body);
                return ((RequestAndSize) parsed).request;
            }
        }
        throw new IllegalStateException("Kafka parses requests in another way");
    }
}
