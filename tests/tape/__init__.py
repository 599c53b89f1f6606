"""The tape: what a real Kafka has answered, recorded, and played to the emulator.

    python -m tests.tape show NAME      what was asked and answered
    python -m tests.tape play           asks the emulator the same
    python -m tests.tape record         asks a real Kafka anew; `git diff` shows what has changed

What is recorded are sequences of tests/differential: its hand-written cases in the first and last
version of their APIs, and some drawn ones. To play one its code is run again. Its requests have to
be those that were recorded, byte by byte; the answers of the emulator are held against those of
Kafka by the engine that compares the two live, with the same allowances. So no Java is needed, and
as the emulator has no socket, a disk in memory and a clock that is moved, no time.

- take.py: the format of the files in recorded/;
- recorder.py, record.py: writing them; alike.py: whether Kafka has answered the same as before;
- side.py, memory.py: the two sides of the comparison; replay.py: how they are led through it;
- families.py: what is recorded.

Left out: the versions in between, 3.9, clusters, security, logins: those are compared live.
"""
