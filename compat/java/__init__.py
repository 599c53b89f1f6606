"""Programs in a JVM: archives that Maven resolves, programs that answer lines of JSON."""
