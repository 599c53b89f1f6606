"""A broker of an older release, as far as clients can tell: what it says that it serves."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ...wire import Error, Response
from ...wire.api import request_class
from ...wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ..base.chain import Outcome
from ..control.rules.verbs.answering import own_copy
from ..control.rules.verbs.verb import Verb
from ..facets.rule_view import RuleView
from ..handlers.registry import SERVED
from .older_versions import KNOWN, Versions, versions_of

if TYPE_CHECKING:
    from ..control.rules.meeting import Meeting
    from .situated import Situated

_NAMES_ITSELF_SINCE = 3
_LAST = 1 << 15


class Older(Verb):
    """ApiVersions says the versions of another release. A version of ApiVersions that this release
    did not know is refused in v0: with nothing else before 2.4, and with what there is since then
    (KIP-511)."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions

    def before(self, meeting: Meeting) -> Outcome:
        first, last = self._versions[ApiVersionsRequest.api_key]
        if meeting.version <= last:
            return None
        meeting.call.version = meeting.version = 0
        Api = ApiVersionsResponse.Api
        itself = Api(api_key=ApiVersionsRequest.api_key, min_version=first, max_version=last)
        known = [itself] if last >= _NAMES_ITSELF_SINCE else []
        return ApiVersionsResponse(error_code=Error.UNSUPPORTED_VERSION, api_keys=known)

    def after(self, meeting: Meeting, response: Response | None) -> Outcome:
        if not isinstance(response, ApiVersionsResponse) or response.error_code:
            return None
        own: ApiVersionsResponse = own_copy(response, meeting.version)
        served = {each.api_key: (each.min_version, each.max_version) for each in own.api_keys}
        own.api_keys = [
            ApiVersionsResponse.Api(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in common(served, self._versions).items()
        ]
        own.supported_features, own.finalized_features = [], []
        own.finalized_features_epoch = -1
        return own


def common(served: Versions, older: Versions) -> Versions:
    """What two brokers both serve."""
    found = {}
    for key in sorted(served.keys() & older.keys()):
        first = max(served[key][0], older[key][0])
        last = min(served[key][1], older[key][1])
        if first <= last:
            found[key] = first, last
    return found


def rules(kafka: Situated, release: str) -> tuple[str, RuleView, list[RuleView]]:
    """The name of the release; the rule that says what it serves, and those that close connections
    of clients that use something else. Raises ValueError for a release that is not known."""
    name = _named(release)
    versions = versions_of(name)
    says = kafka.on(ApiVersionsRequest)._set("older", Older(versions))
    served = kafka.run(lambda cluster: set(cluster.release.advertised))
    closes = [
        kafka.on(
            request, version=range(versions[key][1] + 1 if key in versions else 0, _LAST)
        ).disconnect()
        for key, request in ((key, request_class(key)) for key in sorted(served & SERVED.keys()))
        if request is not ApiVersionsRequest
    ]
    return name, says, closes


def _named(release: str) -> str:
    for known in KNOWN:
        if str(release) == known or str(release).startswith(f"{known}."):
            return known
    near = get_close_matches(str(release), KNOWN, 1, 0.5)
    likely = f"; do you mean {near[0]}?" if near else ""
    raise ValueError(f"no older release {release!r}{likely} There are {', '.join(KNOWN)}")
