import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Each order of standard input is placed, paid and cleared away, once the connector listens: PORT. */
public class Changes {
    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/postgres?user=postgres&password=postgres";
        while (!isHeard(url)) {
            Thread.sleep(200);
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int order = Integer.parseInt(line.trim());
                statement.execute("insert into orders values (" + order + ", 'c" + order % 9 + "', 'placed')");
                statement.execute("update orders set state = 'paid' where \"order\" = " + order);
                statement.execute("delete from orders where \"order\" = " + order);
            }
        }
    }

    /** Whether the connector has read the log once: from then on nothing is left out, if it reads now or not. */
    private static boolean isHeard(String url) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(
                        "select 1 from pg_replication_slots where active"
                                + " union select 1 from pg_tables where tablename = 'heard'")) {
            if (!found.next()) {
                return false;
            }
            statement.execute("create table if not exists heard ()");
            return true;
        } catch (SQLException notYet) {
            return false;
        }
    }
}
