import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's command line tools, one after the other, in one running JVM.
 *
 * A command is a line of JSON on standard input: {"main": class, "args": [...], "stdin": text}. Its
 * answer is a line on standard output: {"status": n, "out": text, "err": text}. A tool that wants
 * to end the process is stopped at that point; the first status it asked for counts.
 */
public final class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static Integer status;

    private static final class Stopped extends RuntimeException {}

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        BufferedReader commands =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exit.setExitProcedure(Tools::stop);
        Exit.setHaltProcedure(Tools::stop);
        Exit.setShutdownHookAdder((name, hook) -> {});
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(JSON.writeValueAsString(run(JSON.readTree(line))));
            answers.flush();
        }
    }

    private static void stop(int code, String message) {
        if (status == null) {
            status = code;
        }
        throw new Stopped();
    }

    private static ObjectNode run(JsonNode command) throws Exception {
        PrintStream out = System.out;
        PrintStream err = System.err;
        InputStream in = System.in;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        String[] args = new String[command.get("args").size()];
        for (int i = 0; i < args.length; i++) {
            args[i] = command.get("args").get(i).asText();
        }
        byte[] typed = command.get("stdin").asText().getBytes(StandardCharsets.UTF_8);
        status = null;
        try {
            System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
            System.setIn(new ByteArrayInputStream(typed));
            Class<?> tool = Class.forName(command.get("main").asText());
            tool.getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException thrown) {
            if (status == null) {
                thrown.getCause().printStackTrace();
                status = 1;
            }
        } finally {
            System.out.flush();
            System.err.flush();
            System.setOut(out);
            System.setErr(err);
            System.setIn(in);
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.put("status", status == null ? 0 : status);
        answer.put("out", said.toString(StandardCharsets.UTF_8));
        answer.put("err", complained.toString(StandardCharsets.UTF_8));
        return answer;
    }
}
