import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.sql.Connection;
import java.sql.Statement;

/** A PostgreSQL with a table of orders, until it is terminated: PORT, DATA, PROGRAMS (directories). */
public class Database {
    public static void main(String[] arguments) throws Exception {
        EmbeddedPostgres database = EmbeddedPostgres.builder()
                .setPort(Integer.parseInt(arguments[0]))
                .setDataDirectory(new File(arguments[1]))
                .setOverrideWorkingDirectory(new File(arguments[2]))
                .setServerConfig("wal_level", "logical")
                .start(); // it ends with this process
        try (Connection connection = database.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create table orders (\"order\" int primary key, customer text, state text)");
        }
        Thread.currentThread().join();
    }
}
