"""The state machine of a login: what each frame is answered, and what it leads to."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence

import pytest
from odradek.emulator.security.login.exchange import Exchange, Plain
from odradek.emulator.security.login.login import Login, State, Step
from odradek.emulator.security.login.scram import HASHES, Known, Scram, credential_of
from odradek.wire import Buffer, Error, Request, Response
from odradek.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from odradek.wire.codec.messages import read_message
from odradek.wire.headers import RequestHeader, read_response_header, write_request_header

NOW = 1_700_000_000_000
USERS = {"alice": "secret", "a,b=c": "comma"}
SERVED = {17: (0, 1), 18: (0, 4), 36: (0, 2), 10: (0, 6)}


class Broker:
    def __init__(self, *mechanisms: str, session_ms: int = 0) -> None:
        self.mechanisms: Sequence[str] = mechanisms or ("PLAIN", *HASHES)
        self.session_ms = session_ms

    def serves(self, api_key: int, version: int) -> bool:
        first, last = SERVED.get(api_key, (0, -1))
        return first <= version <= last

    def versions(self, header: RequestHeader, request: ApiVersionsRequest | None) -> Response:
        error = Error.UNSUPPORTED_VERSION if request is None else Error.NONE
        if request is not None and request.client_software_name == "!":
            error = Error.INVALID_REQUEST
        return ApiVersionsResponse(error_code=error, api_keys=[])

    def refusal(self, header: RequestHeader, body: Buffer, error: Error, message: str) -> Response:
        return FindCoordinatorResponse(
            error_code=error, error_message=message, node_id=-1, host="", port=-1
        )

    def begin(self, mechanism: str) -> Exchange:
        if mechanism == "PLAIN":
            return Plain(USERS)
        return Scram(mechanism, lambda name, is_token: known(mechanism, name), "server")

    def max_session_ms(self, mechanism: str) -> int:
        return self.session_ms


def known(mechanism: str, name: str) -> Known | None:
    if name not in USERS:
        return None
    return Known(credential_of(mechanism, USERS[name].encode(), b"salt", 4096), name)


def framed(request: Request, version: int) -> bytes:
    header = RequestHeader(request.api_key, version, 7, "app")
    return write_request_header(header) + b"".join(map(bytes, request.parts(version)))


def given(step: Step | None, response: type[Response], version: int) -> Response:
    assert step is not None
    assert step.answer is not None
    frame = b"".join(map(bytes, step.answer))
    correlation_id, pos = read_response_header(frame, response.api_key, version)
    assert correlation_id == 7
    return read_message(response, frame, version, pos)[0]


def handshake(login: Login, mechanism: str = "PLAIN", version: int = 1, now: int = NOW) -> Step:
    step = login.receive(framed(SaslHandshakeRequest(mechanism=mechanism), version), now)
    assert step is not None
    return step


def authenticate(
    login: Login, token: bytes, now: int = NOW
) -> tuple[Step, SaslAuthenticateResponse]:
    step = login.receive(framed(SaslAuthenticateRequest(auth_bytes=token), 2), now)
    assert step is not None
    answer = given(step, SaslAuthenticateResponse, 2)
    assert isinstance(answer, SaslAuthenticateResponse)
    return step, answer


def message_of(login: Login, token: bytes) -> str:
    step, answer = authenticate(login, token)
    assert step.closes
    assert step.is_delayed
    assert answer.error_code == Error.SASL_AUTHENTICATION_FAILED
    assert (answer.auth_bytes, answer.session_lifetime_ms) == (b"", 0)
    return answer.error_message or ""


def test_versions_handshake_and_a_password_log_in() -> None:
    login = Login(Broker())
    step = login.receive(framed(ApiVersionsRequest(), 3), NOW)
    assert not given(step, ApiVersionsResponse, 3).error_code  # type: ignore[attr-defined]
    answer = given(handshake(login), SaslHandshakeResponse, 1)
    assert answer == SaslHandshakeResponse(mechanisms=["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    step, authenticated = authenticate(login, b"\0alice\0secret")
    assert step.is_done
    assert not step.closes
    assert (authenticated.error_code, authenticated.error_message) == (0, "")
    assert (login.user, login.mechanism, login.ends_at) == ("alice", "PLAIN", None)
    assert login.receive(framed(FindCoordinatorRequest(key="g"), 3), NOW) is None


def test_versions_with_an_error_may_be_asked_again_and_good_ones_not() -> None:
    login = Login(Broker())
    odd = framed(ApiVersionsRequest(), 3).replace(b"\0\x12\0\x03", b"\0\x12\0\x7f", 1)
    assert given(login.receive(odd, NOW), ApiVersionsResponse, 0).error_code == 35  # type: ignore[attr-defined]
    bad = framed(ApiVersionsRequest(client_software_name="!", client_software_version="1"), 3)
    assert given(login.receive(bad, NOW), ApiVersionsResponse, 3).error_code == 42  # type: ignore[attr-defined]
    assert login.receive(framed(ApiVersionsRequest(), 3), NOW) is not None
    step = login.receive(framed(ApiVersionsRequest(), 3), NOW)
    assert step is not None
    assert step.closes
    assert step.answer is None


@pytest.mark.parametrize(
    "frame",
    [
        framed(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2),
        framed(FindCoordinatorRequest(key="g"), 3),
        b"",
        b"\0",
        b"GET / HTTP/1.1\r\n\r\n",
        framed(SaslHandshakeRequest(mechanism="PLAIN"), 1).replace(
            b"\0\x11\0\x01", b"\0\x11\0\x02"
        ),
    ],
)
def test_anything_else_before_the_login_closes_without_an_answer(frame: bytes) -> None:
    step = Login(Broker()).receive(frame, NOW)
    assert step is not None
    assert step.closes
    assert step.answer is None
    assert step.failure


@pytest.mark.parametrize("mechanism", ["plain", "", "GSSAPI", "OAUTHBEARER"])
def test_an_unknown_mechanism_is_answered_with_those_that_there_are(mechanism: str) -> None:
    step = handshake(Login(Broker("PLAIN")), mechanism)
    assert step.closes
    assert step.is_delayed
    answer = given(step, SaslHandshakeResponse, 1)
    assert answer == SaslHandshakeResponse(error_code=33, mechanisms=["PLAIN"])


def test_a_handshake_of_version_0_is_followed_by_bare_tokens() -> None:
    login = Login(Broker())
    handshake(login, version=0)
    step = login.receive(b"\0alice\0secret", NOW)
    assert step is not None
    assert step.is_done
    assert step.answer == [b""]
    login = Login(Broker())
    handshake(login, version=0)
    step = login.receive(b"\0alice\0wrong", NOW)
    assert step is not None
    assert (step.closes, step.is_delayed, step.answer) == (True, True, None)


def test_another_request_in_the_middle_is_answered_with_its_own_error() -> None:
    login = Login(Broker())
    handshake(login)
    step = login.receive(framed(FindCoordinatorRequest(key="g"), 3), NOW)
    assert step is not None
    assert step.closes
    assert step.is_delayed
    answer = given(step, FindCoordinatorResponse, 3)
    assert isinstance(answer, FindCoordinatorResponse)
    assert answer.error_code == Error.ILLEGAL_SASL_STATE
    assert answer.error_message == "Request is not valid given the current SASL state."


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0bob\0secret", "Authentication failed: Invalid username or password"),
        (b"\0\0secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (
            b"bob\0alice\0secret",
            "Authentication failed: Client requested an authorization id that is different from "
            "username",
        ),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0" * 9, "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
    ],
)
def test_plain_says_what_is_wrong_as_kafka_does(token: bytes, message: str) -> None:
    login = Login(Broker())
    handshake(login)
    assert message_of(login, token) == message


class Client:
    """A client that proves with SCRAM to know a password."""

    def __init__(self, mechanism: str, password: str) -> None:
        self.mechanism, self.password = mechanism, password.encode()

    def final(self, first: str, challenge: bytes, end: str = "", channel: bytes = b"n,,") -> bytes:
        """What follows a first message (without its head) and the broker's answer to it."""
        hash_of = HASHES[self.mechanism]
        fields = dict(part.split("=", 1) for part in challenge.decode().split(","))
        salt, rounds = b64decode(fields["s"]), int(fields["i"])
        salted = hashlib.pbkdf2_hmac(hash_of().name, self.password, salt, rounds)
        client_key = hmac.digest(salted, b"Client Key", hash_of)
        bare = f"c={b64encode(channel).decode()},r={fields['r']}"
        self.signed = f"{first},{challenge.decode()},{bare}{end}".encode()
        self.server_key = hmac.digest(salted, b"Server Key", hash_of)
        signature = hmac.digest(hash_of(client_key).digest(), self.signed, hash_of)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{bare}{end},p={b64encode(proof).decode()}".encode()


def generic(mechanism: str) -> str:
    what = "Authentication failed during authentication due to invalid credentials"
    return f"{what} with SASL mechanism {mechanism}"


@pytest.mark.parametrize("mechanism", HASHES)
@pytest.mark.parametrize("channel", [b"n,,", b"y,,"])
@pytest.mark.parametrize("end", ["", ",x=1,y=2"])
@pytest.mark.parametrize(
    ("head", "name", "user"),
    [("n,,", "alice", "alice"), ("n,a=alice,", "alice", "alice"), ("n,,", "a=2Cb=3Dc", "a,b=c")],
)
def test_scram_proves_both_ways(
    mechanism: str, channel: bytes, end: str, head: str, name: str, user: str
) -> None:
    login, client = Login(Broker()), Client(mechanism, USERS[user])
    handshake(login, mechanism)
    first = f"n={name},r=client{end}"
    _, answer = authenticate(login, f"{head}{first}".encode())
    assert answer.auth_bytes.startswith(b"r=clientserver,s=c2FsdA==,i=4096")
    step, answer = authenticate(login, client.final(first, answer.auth_bytes, channel=channel))
    assert step.is_done
    assert login.user == user
    signature = hmac.digest(client.server_key, client.signed, HASHES[mechanism])
    assert answer.auth_bytes == b"v=" + b64encode(signature)


@pytest.mark.parametrize(
    "first",
    [
        "n,,n=bob,r=client",
        "y,,n=alice,r=client",
        "p=tls-unique,,n=alice,r=client",
        "n=alice,r=client",
        "n,,n=alice",
        "n,,n=alice,r=",
        "n,,n=,r=client",
        "n,,n=a=b,r=client",
        "\x00\xff",
    ],
)
def test_scram_refuses_a_bad_first_message(first: str) -> None:
    login = Login(Broker())
    handshake(login, "SCRAM-SHA-256")
    assert message_of(login, first.encode()) == generic("SCRAM-SHA-256")


@pytest.mark.parametrize(
    ("password", "first", "end", "old", "new"),
    [
        ("wrong", "n=alice,r=client", "", b"", b""),
        ("secret", "n=alice,r=client", ",x=1", b"", b""),
        ("secret", "m=x,n=alice,r=client", "", b"", b""),
        ("secret", "n=alice,r=client", "", b"clientserver", b"clientother"),
        ("secret", "n=alice,r=client", "", b",p=", b",q="),
        ("secret", "n=alice,r=client", "", b"c=", b"?="),
    ],
)
def test_scram_refuses_a_bad_proof(
    password: str, first: str, end: str, old: bytes, new: bytes
) -> None:
    login, mechanism = Login(Broker()), "SCRAM-SHA-512"
    handshake(login, mechanism)
    _, answer = authenticate(login, f"n,,{first}".encode())
    final = Client(mechanism, password).final(first, answer.auth_bytes, end)
    assert message_of(login, final.replace(old, new, 1)) == generic(mechanism)


# Sessions that end


def session(session_ms: int = 5000, mechanism: str = "PLAIN") -> Login:
    login = Login(Broker(session_ms=session_ms))
    handshake(login, mechanism)
    _, answer = authenticate(login, b"\0alice\0secret")
    assert answer.session_lifetime_ms == session_ms
    return login


def test_the_first_request_after_the_end_of_a_session_closes() -> None:
    login, request = session(), framed(FindCoordinatorRequest(key="g"), 3)
    assert login.receive(request, NOW + 5000) is None
    step = login.receive(request, NOW + 5001)
    assert step is not None
    assert step.closes
    assert step.answer is None
    assert not step.is_delayed


def test_a_session_is_prolonged_in_its_place_also_after_its_end() -> None:
    login = session()
    for now in (NOW, NOW + 1000, NOW + 60_000):
        assert not handshake(login, now=now).closes
        step, answer = authenticate(login, b"\0alice\0secret", now)
        assert step.is_done
        assert answer.session_lifetime_ms == 5000
        assert login.ends_at == now + 5000


def test_a_login_anew_within_a_second_is_a_request_for_others() -> None:
    login = session()
    handshake(login)
    authenticate(login, b"\0alice\0secret")
    again = framed(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert login.receive(again, NOW + 999) is None
    assert login.receive(again, NOW + 1000) is not None


def test_without_an_end_of_sessions_a_handshake_is_a_request_for_others() -> None:
    login = session(0)
    assert login.receive(framed(SaslHandshakeRequest(mechanism="PLAIN"), 1), NOW) is None
    assert login.state is State.DONE


def test_nobody_becomes_another_user() -> None:
    login = session()
    handshake(login)
    message = "Cannot change principals during re-authentication from User.alice: User.a,b=c"
    assert message_of(login, b"\0a,b=c\0comma") == message


def test_a_login_anew_is_by_the_same_mechanism() -> None:
    login = session()
    assert not handshake(login, "SCRAM-SHA-256").closes
    step = login.receive(framed(SaslAuthenticateRequest(auth_bytes=b"n,,n=alice,r=x"), 2), NOW)
    assert step is not None
    assert (step.closes, step.is_delayed, step.answer) == (True, True, None)
