"""What is asked of both brokers: each case is a function that talks to them, by its name."""

from __future__ import annotations

import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from functools import partial
from typing import Any

from odradek.wire import Request
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest

from .certificates import TLS_AGREED
from .limits import ALONE, LIMITS
from .talk import Case, Open, Talk, plain
from .users import USERS

_VERSIONS = ApiVersionsRequest(client_software_name="app", client_software_version="1")
_COORDINATOR = FindCoordinatorRequest(key="g", coordinator_keys=["g"])
_METADATA = MetadataRequest(topics=[])
_LISTENER = "SASL"
_PATIENCE_S = 30.0
_HOUR_MS = 3_600_000


def _known(response: Any) -> str:
    """An answer to ApiVersions, without its versions: the two differ in what they serve."""
    return f"versions {response.error_code}" if response is not None else ""


def _versions(talk: Talk, version: int = 3, **keywords: int) -> None:
    response = talk.ask(_VERSIONS, version, **keywords)
    if response is not None:
        talk.said[-1] = _known(response)


def _one(act: Callable[[Talk], object], listener: str = _LISTENER) -> Case:
    """A case of one connection; at its end it is looked at whether that is open."""

    def case(opened: Open) -> list[str]:
        talk = opened(listener)
        act(talk)
        talk.end()
        talk.close()
        return talk.said

    return case


def _after(mechanism: str, *tokens: bytes, version: int = 1) -> Case:
    def act(talk: Talk) -> None:
        talk.handshake(mechanism, version)
        for token in tokens:
            talk.token(token)

    return _one(act)


def _first(*frames: bytes) -> Case:
    def act(talk: Talk) -> None:
        for frame in frames:
            talk.frame(frame)

    return _one(act)


def _request(request: Request, version: int, **keywords: int) -> Case:
    return _one(lambda talk: talk.send(request, version, **keywords))


# Before the login


def _two_versions(talk: Talk) -> None:
    _versions(talk)
    talk.send(_VERSIONS, 3)


def _versions_again(talk: Talk) -> None:
    for _ in range(2):
        talk.send(_VERSIONS, 3, as_version=99)
        talk.said.append(str(talk.read())[:40])
    bad = ApiVersionsRequest(client_software_name="!", client_software_version="1")
    talk.said.append(_known(talk.ask(bad, 3)))
    talk.said.pop(-2)
    _versions(talk)
    talk.handshake("PLAIN")
    talk.token(plain())


def _pipelined(talk: Talk) -> None:
    talk.send(_VERSIONS, 3)
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    talk.send(SaslAuthenticateRequest(auth_bytes=plain()), 2)
    talk.send(_COORDINATOR, 3)
    talk.said.append(str(talk.read() is not None))
    talk.answer(SaslHandshakeRequest(mechanism=""), 1)
    talk.answer(SaslAuthenticateRequest(), 2)
    talk.said.append(str(talk.read() is not None))


def _pipelined_failure(talk: Talk) -> None:
    talk.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    talk.send(SaslAuthenticateRequest(auth_bytes=plain(password="wrong")), 2)
    talk.send(_COORDINATOR, 3)
    talk.answer(SaslHandshakeRequest(mechanism=""), 1)
    talk.answer(SaslAuthenticateRequest(), 2)


def _refused_in_the_middle(request: Request, version: int) -> Case:
    def act(talk: Talk) -> None:
        talk.handshake("PLAIN")
        talk.ask(request, version)

    return _one(act)


def _bare_tokens(*tokens: bytes, mechanism: str = "PLAIN", then: bool = False) -> Case:
    def act(talk: Talk) -> None:
        talk.handshake(mechanism, 0)
        for token in tokens:
            talk.frame(token)
            answer = talk.read()
            if answer is None:
                return
            talk.said.append(answer.hex())
        if then:
            talk.ask(SaslAuthenticateRequest(auth_bytes=plain()), 2)

    return _one(act)


def _logged_in(act: Callable[[Talk], object], listener: str = _LISTENER) -> Case:
    def acting(talk: Talk) -> None:
        talk.handshake("PLAIN")
        talk.token(plain())
        act(talk)

    return _one(acting, listener)


def _handshake_and_token(talk: Talk) -> None:
    talk.handshake("PLAIN")
    talk.token(plain())


BEFORE: dict[str, Case] = {
    "a second ApiVersions": _one(_two_versions),
    "ApiVersions with errors": _one(_versions_again),
    "Metadata first": _request(_METADATA, 9),
    "SaslAuthenticate first": _request(SaslAuthenticateRequest(auth_bytes=plain()), 2),
    "an unknown key": _first(b"\x03\xe7\0\0\0\0\0\1\xff\xff"),
    "garbage": _first(b"GET / HTTP/1.1\r\n\r\n"),
    "nothing in a frame": _first(b""),
    "a negative size": _one(lambda talk: talk.raw(b"\xff\xff\xff\xff")),
    "a frame of 524288": _first(b"\0\x11\0\1\0\0\0\1\xff\xff" + b"\0\5PLAIN" + bytes(524271)),
    "a frame of 524289": _one(lambda talk: talk.raw(b"\x00\x08\x00\x01" + bytes(100))),
    "Handshake v2": _request(SaslHandshakeRequest(mechanism="PLAIN"), 1, as_version=2),
    "Handshake in small letters": _one(lambda talk: talk.handshake("plain")),
    "Handshake without a mechanism": _one(lambda talk: talk.handshake("")),
    "Handshake for GSSAPI": _one(lambda talk: talk.handshake("GSSAPI", 0)),
    "all at once": _one(_pipelined),
    "all at once, wrong": _one(_pipelined_failure),
    "FindCoordinator in the middle": _refused_in_the_middle(_COORDINATOR, 3),
    "Metadata in the middle": _refused_in_the_middle(_METADATA, 9),
    "ApiVersions in the middle": _refused_in_the_middle(_VERSIONS, 3),
    "Handshake in the middle": _refused_in_the_middle(SaslHandshakeRequest(mechanism="PLAIN"), 1),
    "a bare token in the middle": _one(lambda talk: (talk.handshake("PLAIN"), talk.frame(plain()))),
    "Authenticate v3": _one(
        lambda talk: (
            talk.handshake("PLAIN"),
            talk.send(SaslAuthenticateRequest(auth_bytes=plain()), 2, as_version=3),
        )
    ),
    "v0": _bare_tokens(plain()),
    "v0, wrong": _bare_tokens(plain(password="wrong")),
    "v0, SaslAuthenticate": _one(
        lambda talk: (
            talk.handshake("PLAIN", 0),
            talk.send(SaslAuthenticateRequest(auth_bytes=plain()), 2),
        )
    ),
    "after the login, Handshake and Authenticate": _logged_in(_handshake_and_token),
    "plaintext, Handshake and Authenticate": _one(_handshake_and_token, "PLAINTEXT"),
    "after the login, Authenticate v0": _logged_in(
        lambda talk: talk.ask(SaslAuthenticateRequest(auth_bytes=b""), 0)
    ),
}

PLAIN: dict[str, Case] = {
    f"PLAIN {token!r}": _after("PLAIN", token)
    for token in (
        plain(),
        plain(wanted="alice"),
        plain(wanted="bob"),
        plain(password="wrong"),
        plain("nobody", "wrong"),
        plain("", "x"),
        plain("alice", ""),
        plain("Alice", "alice-secret"),
        b"",
        b"alice",
        b"\0alice",
        b"\0alice\0alice-secret\0",
        b"\0\0\0\0\0\0",
        b"\xff\xfe\0alice\0alice-secret",
    )
}


# SCRAM


def _scram(
    name: str = "alice",
    password: str = "alice-secret",
    mechanism: str = "SCRAM-SHA-256",
    **keywords: Any,
) -> Case:
    def act(talk: Talk) -> None:
        talk.handshake(mechanism)
        talk.scram(name, password, mechanism, **keywords)

    return _one(act)


def _replace(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new, 1)


SCRAM: dict[str, Case] = {
    "SCRAM-SHA-256": _scram(),
    "SCRAM-SHA-512": _scram(mechanism="SCRAM-SHA-512"),
    "another user than wanted": _scram(head="n,a=bob,"),
    "the same user as wanted": _scram(head="n,a=alice,"),
    "escapes": _scram("a=2Cb=3Dc", "odd"),
    "an escape that is none": _scram("a=b"),
    "an unknown user": _scram("nobody"),
    "only with the other hash": _scram("only512", "x"),
    "y": _scram(head="y,,"),
    "p": _scram(head="p=tls-unique,,"),
    "no head": _scram(head=""),
    "no nonce": _after("SCRAM-SHA-256", b"n,,n=alice"),
    "an empty nonce": _after("SCRAM-SHA-256", b"n,,n=alice,r="),
    "an empty user": _scram(""),
    "SCRAM garbage": _after("SCRAM-SHA-256", b"\xff\0garbage"),
    "no first message": _after("SCRAM-SHA-256", b""),
    "an extension": _scram(end=",xyz=1"),
    "an extension twice": _scram(end=",x=1,x=2"),
    "m=": _scram(head="n,,m=x,"),
    "a wrong password": _scram(password="wrong"),
    "a channel": _scram(channel=b"other"),
    "an extension at the end": _scram(last=",x=1"),
    "no proof": _scram(change=lambda data: data.rpartition(b",p=")[0]),
    "an empty proof": _scram(change=lambda data: data.rpartition(b",p=")[0] + b",p="),
    "a short proof": _scram(change=lambda data: data.rpartition(b",p=")[0] + b",p=AAAA"),
    "a proof that is no base64": _scram(change=_replace(b",p=", b",p=!")),
    "another nonce": _scram(change=_replace(b"r=client", b"r=other")),
    "a final message that is garbage": _scram(change=lambda data: b"garbage"),
    "v0 of SCRAM": _bare_tokens(b"n,,n=nobody,r=x", mechanism="SCRAM-SHA-256"),
}


# OAUTHBEARER


def _part(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _jwt(header: object = None, signature: str = "", **claims: Any) -> str:
    now = int(time.time())
    said = {"sub": "alice", "iat": now, "exp": now + 3600, **claims}
    said = {name: value for name, value in said.items() if value is not None}
    return f"{_part(header or {'alg': 'none'})}.{_part(said)}.{signature}"


def _shown(token: str, head: str = "n,,", scheme: str = "Bearer", more: str = "") -> bytes:
    return f"{head}\x01auth={scheme} {token}\x01{more}\x01".encode()


def _bearer(
    make: Callable[[], bytes],
    *then: bytes | Callable[[], bytes],
    hides: bool = True,
    listener: str = _LISTENER,
) -> Case:
    """A token that is made when it is shown, as it has a time."""

    def act(talk: Talk) -> None:
        talk.handshake("OAUTHBEARER")
        for each in (make, *then):
            data = each() if callable(each) else each
            answer = talk.ask(SaslAuthenticateRequest(auth_bytes=data), 2)
            if answer is not None and hides and answer.session_lifetime_ms:
                lasts = round(answer.session_lifetime_ms / 100_000)
                answer.session_lifetime_ms = lasts
                talk.said[-1] = repr(answer)

    return _one(act, listener)


def _in_s(seconds: int) -> int:
    return int(time.time()) + seconds


_EXPIRED: Callable[[], bytes] = lambda: _shown(_jwt(iat=_in_s(-60), exp=_in_s(-30)))  # noqa: E731
BEARER: dict[str, Case] = {
    f"OAUTHBEARER, {name}": case
    for name, case in {
        "good": _bearer(lambda: _shown(_jwt())),
        "expired, then 0x01": _bearer(_EXPIRED, b"\x01"),
        "expired, then another byte": _bearer(_EXPIRED, b"\x02"),
        "expired, then nothing": _bearer(_EXPIRED, b""),
        "expired, then a good one": _bearer(_EXPIRED, lambda: _shown(_jwt())),
        "of the future": _bearer(lambda: _shown(_jwt(iat=_in_s(60)))),
        "without sub": _bearer(lambda: _shown(_jwt(sub=None))),
        "an empty sub": _bearer(lambda: _shown(_jwt(sub=""))),
        "a sub of blanks": _bearer(lambda: _shown(_jwt(sub="  "))),
        "a number as sub": _bearer(lambda: _shown(_jwt(sub=5))),
        "without exp": _bearer(lambda: _shown(_jwt(exp=None))),
        "text as exp": _bearer(lambda: _shown(_jwt(exp="soon"))),
        "without iat": _bearer(lambda: _shown(_jwt(iat=None))),
        "text as iat": _bearer(lambda: _shown(_jwt(iat="now"))),
        "a fraction as exp": _bearer(lambda: _shown(_jwt(exp=_in_s(3600) + 0.5))),
        "signed": _bearer(lambda: _shown(_jwt({"alg": "RS256"}, _part(b"x")))),
        "a signature": _bearer(lambda: _shown(_jwt(signature="AAAA"))),
        "without alg": _bearer(lambda: _shown(_jwt({"typ": "JWT"}))),
        "a list as header": _bearer(lambda: _shown(_jwt(["none"]))),
        "not a token": _bearer(lambda: _shown("abc")),
        "two parts": _bearer(lambda: _shown(_jwt().rpartition(".")[0])),
        "no base64": _bearer(lambda: _shown("a.b.")),
        "not JSON": _bearer(lambda: _shown(f"{_part({'alg': 'none'})}.{_part(b'x')}.")),
        "another user": _bearer(lambda: _shown(_jwt(), head="n,a=bob,")),
        "the same user": _bearer(lambda: _shown(_jwt(), head="n,a=alice,")),
        "y": _bearer(lambda: _shown(_jwt(), head="y,,")),
        "bearer": _bearer(lambda: _shown(_jwt(), scheme="bearer")),
        "Basic": _bearer(lambda: _shown(_jwt(), scheme="Basic")),
        "no end": _bearer(lambda: _shown(_jwt())[:-1]),
        "extensions": _bearer(lambda: _shown(_jwt(), more="abc=x y\x01")),
        "an extension a-b": _bearer(lambda: _shown(_jwt(), more="a-b=x\x01")),
        "auth twice": _bearer(lambda: _shown(_jwt(), more="auth=x\x01")),
        "without auth": _bearer(lambda: b"n,,\x01a=b\x01\x01"),
        "garbage": _bearer(lambda: b"\xff\0"),
        "nothing": _bearer(lambda: b""),
        "0x01 first": _bearer(lambda: b"\x01"),
        "where sessions end": _bearer(lambda: _shown(_jwt()), hides=False, listener="SHORT"),
    }.items()
}


# Sessions that end


def _beyond(talk: Talk) -> None:
    time.sleep(3.3)
    talk.said.append("3.3 s later")


def _idle(talk: Talk) -> None:
    _beyond(talk)
    talk.end()
    talk.send(_COORDINATOR, 3)


def _again(talk: Talk, *, mechanism: str = "PLAIN", token: bytes | None = None) -> None:
    talk.handshake(mechanism)
    talk.token(plain() if token is None else token)


def _twice(talk: Talk) -> None:
    _again(talk)
    _again(talk)


def _late(talk: Talk) -> None:
    _beyond(talk)
    _again(talk)
    talk.ask(_COORDINATOR, 3)
    talk.said[-1] = "answered"


def _to_scram(talk: Talk) -> None:
    talk.handshake("SCRAM-SHA-256")
    talk.token(b"n,,n=alice,r=client")


def _lives_as_its_token(talk: Talk) -> None:
    """Sessions have no end of their own at this listener."""
    talk.handshake("OAUTHBEARER")
    answer = talk.ask(SaslAuthenticateRequest(auth_bytes=_shown(_jwt(exp=_in_s(3)))), 2)
    talk.said[-1] = f"{answer.error_code}, {1000 < answer.session_lifetime_ms <= 3000}"
    for seconds in (0, 3.2):
        time.sleep(seconds)
        talk.ask(_COORDINATOR, 3)
        talk.said[-1] = "closed" if talk.said[-1] == "closed" else "answered"


SHORT: dict[str, Case] = {
    "a session as long as its token": _one(_lives_as_its_token),
    "a session that ends while nothing is asked": _logged_in(_idle, "SHORT"),
    "a login anew": _logged_in(_again, "SHORT"),
    "two logins anew within a second": _logged_in(_twice, "SHORT"),
    "a login anew after the end": _logged_in(_late, "SHORT"),
    "a login anew as another": _logged_in(partial(_again, token=plain("bob")), "SHORT"),
    "a login anew, wrong": _logged_in(partial(_again, token=plain(password="x")), "SHORT"),
    "a login anew, by another mechanism": _logged_in(_to_scram, "SHORT"),
    "a login anew, by an unknown mechanism": _logged_in(
        lambda talk: talk.handshake("nonsense"), "SHORT"
    ),
    "a request in the middle of a login anew": _logged_in(
        lambda talk: (talk.handshake("PLAIN"), talk.ask(_COORDINATOR, 3)),
        "SHORT",
    ),
    "ApiVersions of a session": _logged_in(_versions, "SHORT"),
}


# Delegation tokens


def _create(talk: Talk, version: int = 3, **fields: Any) -> Any:
    request = CreateDelegationTokenRequest(
        **{"owner_principal_type": None, "owner_principal_name": None, "renewers": []}
        | {"max_lifetime_ms": -1}
        | fields
    )
    answer = talk.ask(request, version)
    if answer is not None:
        issued = answer.issue_timestamp_ms
        times = (answer.expiry_timestamp_ms - issued, answer.max_timestamp_ms - issued)
        sizes = len(answer.token_id), len(answer.hmac)
        who = answer.principal_name, answer.token_requester_principal_name
        talk.said[-1] = f"token {answer.error_code} {times} {sizes} {who}"
        if not answer.error_code:
            _wait_for(talk, bytes(answer.hmac))
    return answer


def _wait_for(talk: Talk, secret: bytes) -> None:
    """A broker learns of a token after the controller has answered."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        answer = talk.ask(DescribeDelegationTokenRequest(owners=None), 3)
        talk.said.pop()
        if any(bytes(each.hmac) == secret for each in answer.tokens):
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _change(talk: Talk, request: Request, version: int = 2) -> None:
    answer: Any = talk.ask(request, version)
    if answer is not None:
        left = answer.expiry_timestamp_ms - int(time.time() * 1000)
        until = answer.expiry_timestamp_ms
        hours = round(left / 3_600_000) if until > 0 else until
        talk.said[-1] = f"until {answer.error_code} {hours} h"


def _describe(talk: Talk, owners: list[str] | None, secret: bytes) -> None:
    request = DescribeDelegationTokenRequest(owners=None)
    if owners is not None:
        request.owners = [request.Owner(principal_type="User", principal_name=e) for e in owners]
    answer = talk.ask(request, 3)
    found = [
        (e.principal_name, [r.principal_name for r in e.renewers])
        for e in answer.tokens
        if bytes(e.hmac) == secret
    ]
    talk.said[-1] = f"described {answer.error_code} {found}"


def _user(opened: Open, name: str) -> Talk:
    talk = opened(_LISTENER)
    talk.handshake("PLAIN")
    talk.token(plain(name))
    return talk


def _bob_renews(opened: Open) -> list[str]:
    alice, bob = _user(opened, "alice"), _user(opened, "bob")
    renewer = CreateDelegationTokenRequest.Renewer(principal_type="User", principal_name="bob")
    mine, theirs = _create(alice, renewers=[renewer]), _create(alice)
    for token in (mine, theirs):
        secret = bytes(token.hmac)
        for talk in (alice, bob):
            _change(talk, RenewDelegationTokenRequest(hmac=secret, renew_period_ms=7_200_000))
            _change(talk, RenewDelegationTokenRequest(hmac=secret, renew_period_ms=-1))
            _describe(talk, None, secret)
            _describe(talk, ["alice"], secret)
            _describe(talk, ["bob"], secret)
            _describe(talk, [], secret)
            _change(
                talk, ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=3_600_000)
            )
    for talk in (bob, alice):
        _change(talk, ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1))
    _change(alice, RenewDelegationTokenRequest(hmac=b"wrong", renew_period_ms=1))
    _change(alice, ExpireDelegationTokenRequest(hmac=b"wrong", expiry_time_period_ms=-1))
    return [*alice.said, *bob.said]


def _log_in_with(opened: Open) -> list[str]:
    alice = _user(opened, "alice")
    token = _create(alice)
    password = b64encode(bytes(token.hmac))
    said = list(alice.said)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        talk = opened(_LISTENER)
        talk.handshake(mechanism)
        talk.scram(token.token_id, password, mechanism, end=",tokenauth=true")
        talk.said[-1] = talk.said[-1].rpartition("session")[0]  # which lasts as long as the token
        _create(talk)
        _describe(talk, None, bytes(token.hmac))
        talk.end()
        said += talk.said
    for name, end in ((token.token_id, ""), ("nonsense", ",tokenauth=true")):
        talk = opened(_LISTENER)
        talk.handshake("SCRAM-SHA-256")
        talk.scram(name, password, end=end)
        talk.end()
        said += talk.said
    return said


def _expired_login(opened: Open) -> list[str]:
    alice = _user(opened, "alice")
    token = _create(alice, max_lifetime_ms=1)
    time.sleep(0.1)
    _change(alice, RenewDelegationTokenRequest(hmac=bytes(token.hmac), renew_period_ms=1))
    _change(alice, ExpireDelegationTokenRequest(hmac=bytes(token.hmac), expiry_time_period_ms=1))
    talk = opened(_LISTENER)
    talk.handshake("SCRAM-SHA-256")
    talk.scram(token.token_id, b64encode(bytes(token.hmac)), end=",tokenauth=true")
    talk.send(_COORDINATOR, 3)
    talk.end()
    return [*alice.said, *talk.said]


TOKENS: dict[str, Case] = {
    "no token at plaintext": _one(_create, "PLAINTEXT"),
    "no token for nobody": _one(_create, "TLS"),
    "tokens": _logged_in(_create),
    "tokens of version 1": _logged_in(lambda talk: _create(talk, 1)),
    "a token for a short time": _logged_in(lambda talk: _create(talk, max_lifetime_ms=60_000)),
    "a token for too long": _logged_in(lambda talk: _create(talk, max_lifetime_ms=10**15)),
    "a token for no time": _logged_in(lambda talk: _create(talk, max_lifetime_ms=0)),
    "a token for another": _logged_in(
        lambda talk: _create(talk, owner_principal_type="User", owner_principal_name="bob")
    ),
    "a token for a group": _logged_in(
        lambda talk: _create(talk, owner_principal_type="Group", owner_principal_name="bob")
    ),
    "a renewer that is no user": _logged_in(
        lambda talk: _create(
            talk,
            renewers=[
                CreateDelegationTokenRequest.Renewer(principal_type="Group", principal_name="g")
            ],
        )
    ),
    "who renews, ends and sees tokens": _bob_renews,
    "a login with a token": _log_in_with,
    "a token that has expired": _expired_login,
}

# TLS


TLS: dict[str, Case] = {
    "ApiVersions over TLS": _one(_versions, "TLS"),
    "Handshake over TLS": _one(_handshake_and_token, "TLS"),
}

CASES = TLS | TLS_AGREED | BEFORE | PLAIN | SCRAM | BEARER | SHORT | TOKENS | USERS | LIMITS | ALONE
