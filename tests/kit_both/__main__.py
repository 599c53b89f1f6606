"""`python -m tests.kit_both`: these tests against a real Kafka, with the options of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from odradek.compat import RealKafka

if __name__ == "__main__":
    with RealKafka() as kafka:
        option = f"--kafka-bootstrap={kafka.bootstrap_servers}"
        here = str(Path(__file__).parent)
        command = [sys.executable, "-m", "pytest", option, here, *sys.argv[1:]]
        sys.exit(subprocess.run(command).returncode)
