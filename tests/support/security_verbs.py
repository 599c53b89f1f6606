"""The shell's verbs of security, one after the other, at any listener: rules, quotas, users."""

from __future__ import annotations

from collections.abc import Callable

Shell = Callable[..., str]
"""Runs a command at a listener; gives its output, or what it says where `status` is not 0."""


def made_seen_and_removed(shell: Shell, name: str) -> None:
    """Add a rule, a quota and a user of this name, look at them, and remove them."""
    rule = f"{name} may READ topic of-{name}"
    shell("acls", "add", rule)
    assert shell("acls", "list", "--principal", name).splitlines() == [rule]
    shell("acls", "rm", rule)
    assert shell("acls", "list", "--principal", name) == ""

    shell("quotas", "set", "--user", name, "producer_byte_rate=1000")
    words = shell("quotas", "list", "--user", name).split()
    assert words[-4:] == ["user", name, "producer_byte_rate", "1000"]
    shell("quotas", "rm", "--user", name)
    assert name not in shell("quotas", "list")

    shell("users", "add", name, "--password", "its secret", "--mechanism", "SCRAM-SHA-512")
    assert shell("users", "list", name).split()[-3:] == [name, "SCRAM-SHA-512", "4096"]
    shell("users", "rm", name)
    assert f"there is no user {name}" in shell("users", "list", name, status=1)


def refused(shell: Shell) -> None:
    """Somebody who may not is told so, of each."""
    # A real broker never answers who may not see all users.
    asked = (
        ("acls", "list"),
        ("quotas", "list"),
        ("users", "list", "eve"),
        ("acls", "add", "eve may READ every topic"),
        ("quotas", "set", "--user", "eve", "producer_byte_rate=1"),
        ("users", "add", "eve", "--password", "x"),
    )
    for given in asked:
        assert "CLUSTER_AUTHORIZATION_FAILED" in shell(*given, status=1)
