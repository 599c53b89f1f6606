"""The differential engine: a real Kafka and the emulator are asked the same, and compared.

A `Sequence` of steps goes to both brokers over real sockets (engine.py), in lockstep; their answers
are decoded, what may differ is replaced by symbols (mapping.py), and the rest is compared field by
field (compare.py). Sequences are written by hand (cases/) and drawn from a seed (generate.py). A
difference is shrunk (shrink.py) and printed as a transcript (transcript.py), unless it is one of
those allowed (allowed.py, each with its reason).

    python -m odradek.compat.differential --seed 1 --requests 20000

Left out: several brokers, TLS and SASL, and the order of events under load.
"""

from .allowed import ALLOWED, Allowances, Allowed
from .brokers import EmulatedBroker
from .engine import Engine, Result
from .generate import draw_sequence
from .shrink import shrink
from .steps import Ask, Close, Damage, Restart, Send, Sequence, Sleep, now, seen
from .transcript import transcript
from .versions import Served

__all__ = [
    "ALLOWED",
    "Allowances",
    "Allowed",
    "Ask",
    "Close",
    "Damage",
    "EmulatedBroker",
    "Engine",
    "Restart",
    "Result",
    "Send",
    "Sequence",
    "Served",
    "Sleep",
    "draw_sequence",
    "now",
    "seen",
    "shrink",
    "transcript",
]
