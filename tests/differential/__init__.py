"""A real Kafka and the emulator are asked the same, and their answers compared field by field.

    python -m tests.differential --seed 1 --requests 20000

A `Sequence` of steps goes to both brokers over real sockets, in lockstep. Their answers are decoded
and what may differ between two right brokers is replaced by symbols. A difference that is left is
an allowed one, or it is shrunk to the shortest sequence that shows it and printed as a transcript.

- engine/: the comparison itself, from the steps of a sequence to the transcript;
- ask/: requests and record batches in few words, for cases and drawn sequences;
- cases/: sequences written by hand, one or more for each rule of docs/semantics.md;
- draw/: sequences drawn from a seed;
- settle/: waiting until both brokers say the same of what a request may have changed;
- allowed/: differences that are allowed, each with its reason, and lists that have no order;
- clusters/: the same with three brokers on each side, which stop, die and come back meanwhile.

Left out: TLS and SASL, and the order of events under load.
"""
