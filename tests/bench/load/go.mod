module odradek/tests/bench/load

go 1.21
