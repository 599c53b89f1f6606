import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;

/**
 * Fills messages: Kafka's schema of a version says which fields there are, a seed which values.
 *
 * Seed 0 leaves nothing out: no null, two items in every list. Other seeds put null where it may be
 * and up to three items in a list. With `unknown`, the same message also carries tagged fields, in
 * every struct that can have them, that no version has.
 */
final class Filler {
    private static final int FIRST_UNKNOWN_TAG = 100;
    private static final String LETTERS = "abc xyz0\u00e9\u0416\u20ac\u4e16";

    private final Random random;
    private final Random extras;
    private final boolean full;
    private final boolean unknown;

    Filler(long seed, boolean unknown) {
        this.random = new Random(seed);
        this.extras = new Random(seed);
        this.full = seed == 0;
        this.unknown = unknown;
    }

    Message struct(Class<?> type, Schema schema) throws Exception {
        Message made = (Message) type.getConstructor().newInstance();
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields tagged) {
                for (Object inner : tagsOf(tagged).values()) {
                    set(made, (Field) inner);
                }
                if (unknown) {
                    addUnknown(made);
                }
            } else {
                set(made, field.def);
            }
        }
        return made;
    }

    /** Kafka 4 has a method for it, Kafka 3 has none. */
    private static Map<?, ?> tagsOf(TaggedFields tagged) throws Exception {
        var fields = TaggedFields.class.getDeclaredField("fields");
        fields.setAccessible(true);
        return (Map<?, ?>) fields.get(tagged);
    }

    private void addUnknown(Message made) {
        int tag = FIRST_UNKNOWN_TAG;
        for (int n = 1 + extras.nextInt(3); n > 0; n--) {
            byte[] data = new byte[extras.nextInt(200)];
            extras.nextBytes(data);
            made.unknownTaggedFields().add(new RawTaggedField(tag, data));
            tag += 1 + extras.nextInt(20_000);
        }
    }

    private void set(Message made, Field field) throws Exception {
        Method setter = setter(made.getClass(), field.name);
        if (field.type.isNullable() && !full && random.nextInt(4) == 0) {
            setter.invoke(made, (Object) null);
            return;
        }
        Class<?> type = setter.getParameterTypes()[0];
        if (field.type.isArray()) {
            setter.invoke(made, items(type, setter, field.type.arrayElementType().get()));
        } else {
            setter.invoke(made, value(type, field.type));
        }
    }

    private static Method setter(Class<?> type, String name) {
        String wanted = "set" + name.replace("_", "");
        for (Method method : type.getMethods()) {
            if (method.getName().equalsIgnoreCase(wanted) && method.getParameterCount() == 1) {
                return method;
            }
        }
        throw new IllegalStateException(type + " has no way to set " + name);
    }

    @SuppressWarnings("unchecked")
    private Object items(Class<?> type, Method setter, Type of) throws Exception {
        boolean isList = type.isAssignableFrom(ArrayList.class);
        var generic = isList ? setter.getGenericParameterTypes()[0] : type.getGenericSuperclass();
        var item = ((ParameterizedType) generic).getActualTypeArguments()[0];
        Class<?> itemType = item instanceof Class<?> plain ? plain : byte[].class;
        var items = (Collection<Object>)
            (isList ? new ArrayList<>() : type.getConstructor().newInstance());
        for (int n = full ? 2 : random.nextInt(4); n > 0; n--) {
            items.add(value(itemType, of));
        }
        return items;
    }

    private Object value(Class<?> type, Type kind) throws Exception {
        if (kind instanceof Schema schema) {
            return struct(type, schema);
        }
        if (kind == Type.UINT16) {
            return random.nextInt(1 << 16);
        }
        if (kind == Type.UNSIGNED_INT32) {
            return random.nextLong() & 0xffffffffL;
        }
        return switch (type.getSimpleName()) {
            case "boolean", "Boolean" -> full || random.nextBoolean();
            case "byte", "Byte" -> (byte) random.nextInt();
            case "short", "Short" -> (short) random.nextInt();
            case "int", "Integer" -> random.nextInt();
            case "long", "Long" -> random.nextLong();
            case "double", "Double" -> random.nextGaussian() * 1e9;
            case "String" -> text();
            case "Uuid" -> new Uuid(random.nextLong(), random.nextLong());
            case "byte[]" -> someBytes();
            case "ByteBuffer" -> ByteBuffer.wrap(someBytes());
            case "BaseRecords" -> MemoryRecords.readableRecords(ByteBuffer.wrap(someBytes()));
            default -> throw new IllegalStateException("nothing to put into a " + type);
        };
    }

    /** Sometimes too large for one byte. */
    private int length() {
        return random.nextInt(12) == 0 ? random.nextInt(300) : 1 + random.nextInt(12);
    }

    private String text() {
        var text = new StringBuilder();
        for (int n = length(); n > 0; n--) {
            text.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
        }
        return random.nextInt(8) == 0 ? text + "\ud83d\ude00" : text.toString();
    }

    private byte[] someBytes() {
        byte[] made = new byte[length()];
        random.nextBytes(made);
        return made;
    }
}
