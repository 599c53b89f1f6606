"""A task for each number on standard input."""

import sys

from app import bill

for line in sys.stdin:
    bill.delay(int(line))
