"""Twenty tasks of a day with Kafka, done with `odradek`, kcat and Kafka's own scripts.

    python -m tests.tasks            the table of docs/tasks.md, on standard output
    python -m tests.tasks --write    the same into docs/tasks.md

Each tool gets a broker of its own (`odradek serve`) and does the tasks in the same order; those
that it cannot do are done by `odradek` meanwhile, so that the next ones find what they need.
"""
