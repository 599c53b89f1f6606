"""SaslHandshake (17): agree on a SASL mechanism."""

from __future__ import annotations

from ..schema import Request, Response, i16


class SaslHandshakeRequest(Request, api=17, versions="0-1"):
    """Propose a mechanism."""

    mechanism: str


class SaslHandshakeResponse(Response, api=17, versions="0-1"):
    """Whether it is enabled, and the enabled mechanisms."""

    error_code: i16 = 0
    mechanisms: list[str]
