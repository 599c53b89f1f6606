"""The table of clients: the one that is always here is tried, and each has its row."""

from __future__ import annotations

import argparse

import pytest

from .clients.__main__ import BEGIN, CLIENTS, END, PAGE, tried


@pytest.mark.client
def test_the_client_that_is_here_gets_on_with_the_registry() -> None:
    python = CLIENTS[0]
    assert tried(python, argparse.Namespace(confluent=None)) == "registers, writes, reads"


def test_each_client_has_its_row() -> None:
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if "|" in line]
    assert rows[2:] == [each.name for each in CLIENTS]
    assert "wrong" not in table
