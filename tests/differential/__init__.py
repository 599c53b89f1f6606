"""The differential engine: a real Kafka and the emulator are asked the same, and compared.

A `Sequence` of steps goes to both brokers over real sockets, in lockstep (engine/engine.py); their
answers are decoded, what may differ is replaced by symbols (engine/mapping.py), and the rest is
compared field by field (engine/compare.py). Sequences are written by hand (cases/) and drawn from a
seed (draw/). A difference is shrunk (engine/shrink.py) and printed as a transcript
(engine/transcript.py), unless it is one of those allowed (allowed/, each with its reason).

    python -m tests.differential --seed 1 --requests 20000

Left out: several brokers, TLS and SASL, and the order of events under load.
"""

from .allowed.allowed import ALLOWED, Allowances, Allowed
from .draw.sequences import draw_sequence
from .engine.brokers import EmulatedBroker
from .engine.engine import Engine, Result
from .engine.shrink import shrink
from .engine.steps import Ask, Close, Damage, Restart, Send, Sequence, Sleep, now, seen
from .engine.transcript import transcript
from .engine.versions import Served

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
