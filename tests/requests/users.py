"""Credentials of users: AlterUserScramCredentials and DescribeUserScramCredentials."""

from __future__ import annotations

from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from tests.requests.asker import Asker

Upsertion = AlterUserScramCredentialsRequest.Upsertion
Deletion = AlterUserScramCredentialsRequest.Deletion
Answers = list[tuple[str, int, str | None]]
SHA_256, SHA_512 = 1, 2


def user(
    name: str, mechanism: int = 1, iterations: int = 4096, password: bytes = b"p"
) -> Upsertion:
    return Upsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"abc",
        salted_password=password * 32,
    )


def drop(name: str, mechanism: int = 1) -> Deletion:
    return Deletion(name=name, mechanism=mechanism)


def alter(client: Asker, *changes: Upsertion | Deletion) -> Answers:
    """Alter credentials; return user, error and message of each."""
    request = AlterUserScramCredentialsRequest(
        deletions=[each for each in changes if isinstance(each, Deletion)],
        upsertions=[each for each in changes if isinstance(each, Upsertion)],
    )
    return [(r.user, r.error_code, r.error_message) for r in client.ask(request, 0).results]


def describe(client: Asker, *names: str) -> dict[str, list[tuple[int, int]] | int]:
    """Mechanism and iterations of each user's credentials, or the error."""
    made = DescribeUserScramCredentialsRequest
    answer = client.ask(made(users=[made.User(name=name) for name in names] or None), 0)
    return {
        r.user: r.error_code or [(c.mechanism, c.iterations) for c in r.credential_infos]
        for r in answer.results
    }
