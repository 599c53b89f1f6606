import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * RE2/J, asked from outside: a line of JSON is {"expression", "texts"}, its answer says which of the
 * texts match as a whole, {"matches": [...]}, or why the expression is none, {"refused"}.
 */
public final class Re2j {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            var answer = JSON.createObjectNode();
            try {
                Pattern pattern = Pattern.compile(asked.get("expression").asText());
                var matches = answer.putArray("matches");
                for (JsonNode text : asked.get("texts")) {
                    matches.add(pattern.matcher(text.asText()).matches());
                }
            } catch (PatternSyntaxException e) {
                answer.put("refused", e.getDescription());
            }
            out.println(answer);
            out.flush();
        }
    }
}
