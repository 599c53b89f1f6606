"""The REST API, as a Starlette app: paths, parameters and answers of Confluent's registry.

Source: the API's reference of Confluent Platform 8. Requests are carried out one after the other,
in a thread, since the topic is read and written in each. What is not served is answered 404: see
docs/schemas.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...emulator.base.java_order import hash_map_order
from ..http_server import App
from .errors import Refused
from .faults import Faults
from .formats import KINDS, BadSchema, Schema, written
from .paths import SLASH, place_of
from .records import Version
from .registry import Registry
from .releases import Release
from .subjects import DEFAULT, EVERYWHERE, begins, subject_of
from .topic import Turn

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
VERSION = "8.5.0"
_TRUE = ("true", "1")


class ApiRequest:
    def __init__(
        self, request: Request, body: bytes, template: str, release: Release | None
    ) -> None:
        self.path = {key: each.replace(SLASH, "/") for key, each in request.path_params.items()}
        self._query = request.query_params
        self._body = body
        self._release = release
        if release is not None:
            release.check(request.method, template, ROUTES[template])
            known = [
                (name, each)
                for name, each in request.query_params.multi_items()
                if not release.ignores(template, name)
            ]
            self._query = QueryParams(known)

    def text(self, name: str, otherwise: str = "") -> str:
        return self._query.get(name, otherwise)

    def is_set(self, name: str) -> bool:
        """A parameter that is true or false."""
        return self._query.get(name, "").lower() in _TRUE

    def number(self, name: str, otherwise: int) -> int:
        """A parameter that is a number. Raises Refused."""
        try:
            return int(self._query.get(name, otherwise))
        except ValueError:
            raise Refused("no_page") from None

    def texts(self, name: str) -> list[str]:
        return self._query.getlist(name)

    @property
    def subject(self) -> str:
        return str(self.path["subject"])

    def body(self, what: str) -> dict[str, Any]:
        """Raises Refused for one that is no object."""
        if not self._body.strip():
            raise Refused("unprocessable", f"{what} must not be null (was null)")
        try:
            given = json.loads(self._body)
        except (ValueError, RecursionError) as error:
            raise Refused("bad_request", str(error) or "too many levels") from None
        if not isinstance(given, dict):
            raise Refused("bad_request", f"an object is needed, not {type(given).__name__}")
        return given if self._release is None else self._release.understood(given)

    def paged(self, found: Iterable[Any]) -> list[Any]:
        """The part that `offset` and `limit` ask for."""
        every, offset, limit = list(found), self.number("offset", 0), self.number("limit", -1)
        offset = max(offset, 0)
        return every[offset : offset + limit] if limit >= 0 else every[offset:]


def app(registry: Registry, lock: Turn, faults: Faults) -> App:
    """The API of a registry, asked with its lock held, and met by its faults."""

    def carried_out(act: _Act, request: ApiRequest) -> Any:
        with lock:
            return act(registry, request)

    async def answer(act: _Act, template: str, request: Request) -> Response:
        try:
            await faults.meet(request)
            release = faults.release
            asked = ApiRequest(request, await request.body(), template, release)
            said = await run_sync(partial(carried_out, act, asked))
            if release is not None:
                said = release.answer(request.method, template, said)
            return _answer(said)
        except Refused as refused:
            return _answer(refused.body, refused.status)

    def refused(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        name = {404: "no_page", 405: "no_method"}.get(status, "failed")
        return _answer(Refused(name).body, status)

    routes = []
    for path, by_method in ROUTES.items():
        for method, act in by_method.items():
            routes.append(Route(path, partial(answer, act, path), methods=[method]))
    handlers: Any = {HTTPException: refused, Exception: refused}
    return _at_its_place(Starlette(routes=routes, exception_handlers=handlers))


def _at_its_place(inner: Starlette) -> App:
    async def serve(scope: Any, receive: Any, send: Any) -> None:
        raw = scope.get("raw_path")
        if raw is not None:
            path, query = place_of(raw, scope["query_string"])
            scope = {**scope, "path": path, "query_string": query}
        await inner(scope, receive, send)

    return serve


def _answer(answer: Any, status: int = 200) -> Response:
    content = answer if isinstance(answer, str) else written(answer)
    return Response(content, status, media_type=CONTENT_TYPE)


_Act = Callable[[Registry, ApiRequest], Any]


# Answers


def _described(version: Version, schema: str, *leave: str, times: bool = True) -> dict[str, Any]:
    made: dict[str, Any] = {
        "subject": version.subject,
        "version": version.version,
        "id": version.id,
        "guid": version.guid,
        "schemaType": version.kind,
    }
    if version.references:
        made["references"] = version.references
    if version.metadata is not None:
        made["metadata"] = version.metadata
    if version.rule_set is not None:
        made["ruleSet"] = version.rule_set
    made["schema"] = schema
    if times:
        made |= {"ts": version.ts, "deleted": version.deleted}
    return {key: value for key, value in made.items() if key not in leave}


def _text(registry: Registry, version: Version, request: ApiRequest) -> str:
    how = request.text("format")
    if not how:
        return version.text
    schema: Schema = registry.parsed(version)
    try:
        return schema.formatted(how)
    except BadSchema as error:
        raise Refused("invalid_schema", str(error)) from None


def _root(registry: Registry, request: ApiRequest) -> Any:
    return {}


def _subjects(registry: Registry, request: ApiRequest) -> Any:
    prefix = request.text("subjectPrefix", EVERYWHERE)
    state = registry.state
    deleted, only = request.is_set("deleted"), request.is_set("deletedOnly")
    found = []
    for name in sorted(state.subjects):
        is_live = bool(state.versions(name))
        has_deleted = len(state.versions(name)) < len(state.versions(name, deleted=True))
        is_shown = (has_deleted and not is_live) if only else is_live or deleted
        if is_shown and begins(name, prefix):
            found.append(name)
    return request.paged(found)


def _lookup(registry: Registry, request: ApiRequest) -> Any:
    found = registry.lookup(
        request.subject,
        request.body("lookUpSchemaUnderSubject.request"),
        normalize=request.is_set("normalize"),
        deleted=request.is_set("deleted"),
    )
    return _described(found, _text(registry, found, request), times=False)


def _with_metadata(registry: Registry, request: ApiRequest) -> Any:
    wanted = dict(zip(request.texts("key"), request.texts("value"), strict=False))
    found = registry.latest_with(request.subject, wanted, deleted=request.is_set("deleted"))
    return _described(found, _text(registry, found, request))


def _delete_subject(registry: Registry, request: ApiRequest) -> Any:
    return registry.delete_subject(request.subject, permanent=request.is_set("permanent"))


def _versions(registry: Registry, request: ApiRequest) -> Any:
    subject = registry.real_name(request.subject)
    state = registry.state
    deleted, only = request.is_set("deleted"), request.is_set("deletedOnly")
    found = state.versions(subject, deleted=deleted or only)
    if not found:
        raise Refused("no_subject", subject)
    if only:
        found = [each for each in found if each.deleted]
    negative = request.is_set("deletedAsNegative")
    return request.paged(
        -each.version if negative and each.deleted else each.version for each in found
    )


def _register(registry: Registry, request: ApiRequest) -> Any:
    given = request.body("register.request")
    found = registry.register(request.subject, given, normalize=request.is_set("normalize"))
    return _described(found, _text(registry, found, request), "subject", times=False) | {}


def _version(registry: Registry, request: ApiRequest) -> Any:
    found = registry.version(
        request.subject, request.path["version"], deleted=request.is_set("deleted")
    )
    return _described(found, _text(registry, found, request))


def _version_schema(registry: Registry, request: ApiRequest) -> Any:
    found = registry.version(
        request.subject, request.path["version"], deleted=request.is_set("deleted")
    )
    return _text(registry, found, request)


def _delete_version(registry: Registry, request: ApiRequest) -> Any:
    return registry.delete_version(
        request.subject, request.path["version"], permanent=request.is_set("permanent")
    )


def _referred_by(registry: Registry, request: ApiRequest) -> Any:
    found = registry.stored(request.subject, request.path["version"])
    referring = registry.state.referring(
        found.subject, found.version, deleted=request.is_set("deleted")
    )
    return request.paged(sorted({each.id for each in referring}))


def _schemas(registry: Registry, request: ApiRequest) -> Any:
    prefix = request.text("subjectPrefix")
    deleted = request.is_set("deleted")
    state = registry.state
    found = []
    for name in sorted(state.subjects):
        if begins(name, prefix):
            there = state.versions(name, deleted=deleted)
            found += there[-1:] if request.is_set("latestOnly") else there
    return [_described(each, each.text) for each in request.paged(found)]


def _of_id(registry: Registry, request: ApiRequest) -> list[Version]:
    """The versions that have an id: those of the subject, in its context or, if that is the
    default, in another; else all of the default context. Raises Refused."""
    text = request.path["id"]
    if not text.removeprefix("-").isdigit() or not -(1 << 31) <= int(text[:13]) < 1 << 31:
        raise Refused("no_page")
    subject = request.text("subject")
    state = registry.state
    wanted, number = subject_of(subject), int(text)
    there = state.by_id(wanted.context, number)
    if wanted.is_context:
        return there
    of_subject = any(each.subject == wanted.full for each in there)
    if of_subject or wanted.context != DEFAULT:
        return there if of_subject else []
    for context in sorted(state.contexts):
        found = state.by_id(context, number)
        if any(subject_of(each.subject).name == wanted.name for each in found):
            return [each for each in found if subject_of(each.subject).name == wanted.name]
    return there


def _by_id(registry: Registry, request: ApiRequest) -> Any:
    found = _of_id(registry, request)
    if not found:
        raise Refused("no_id", request.path["id"])
    one = _preferred(found, request)
    made = _described(one, _text(registry, one, request), "id")
    if request.is_set("fetchMaxId"):
        made["maxId"] = registry.state.highest_id(subject_of(one.subject).context)
    return made


def _preferred(found: list[Version], request: ApiRequest) -> Version:
    subject = request.text("subject")
    of_subject = [each for each in found if each.subject == subject]
    return (of_subject or found)[-1]


def _id_schema(registry: Registry, request: ApiRequest) -> Any:
    found = _of_id(registry, request)
    if not found:
        raise Refused("no_id", request.path["id"])
    return _text(registry, _preferred(found, request), request)


def _shown(registry: Registry, request: ApiRequest) -> list[Version]:
    found = _of_id(registry, request)
    if not found:
        raise Refused("no_schema")
    subject = request.text("subject")
    is_asked = bool(subject) and not subject_of(subject).is_context
    return [
        each
        for each in found
        if (request.is_set("deleted") or not each.deleted)
        and (not is_asked or each.subject == subject)
    ]


def _id_subjects(registry: Registry, request: ApiRequest) -> Any:
    return request.paged(sorted({each.subject for each in _shown(registry, request)}))


def _id_versions(registry: Registry, request: ApiRequest) -> Any:
    shown = sorted(_shown(registry, request), key=lambda each: each.version)
    order = hash_map_order(sorted({each.subject for each in shown}))
    found = sorted(shown, key=lambda each: order.index(each.subject))
    return request.paged({"subject": each.subject, "version": each.version} for each in found)


def _by_guid(registry: Registry, request: ApiRequest) -> Any:
    found = registry.state.by_guid(request.path["guid"])
    if not found:
        raise Refused("no_id", request.path["guid"])
    return _described(found[0], _text(registry, found[0], request), "id")


def _guid_ids(registry: Registry, request: ApiRequest) -> Any:
    found = registry.state.by_guid(request.path["guid"])
    if not found:
        raise Refused("no_id", request.path["guid"])
    return [{"context": subject_of(found[0].subject).context, "id": found[0].id}]


def _types(registry: Registry, request: ApiRequest) -> Any:
    return list(KINDS)


def _compatible(registry: Registry, request: ApiRequest) -> Any:
    given, is_verbose = request.body("testCompatibility.request"), request.is_set("verbose")
    try:
        found = registry.compatible(
            request.subject,
            request.path.get("version"),
            given,
            normalize=request.is_set("normalize"),
        )
    except Refused as refused:
        if refused.name != "invalid_schema" or not is_verbose:
            raise
        found = [refused.message]
    answer: dict[str, Any] = {"is_compatible": not found}
    return {**answer, "messages": found} if is_verbose else answer


def _config(registry: Registry, request: ApiRequest) -> Any:
    return registry.config(
        request.path.get("subject", ""), default_to_global=request.is_set("defaultToGlobal")
    )


def _set_config(registry: Registry, request: ApiRequest) -> Any:
    return registry.set_config(
        request.path.get("subject", ""), request.body("updateConfig.request")
    )


def _delete_config(registry: Registry, request: ApiRequest) -> Any:
    return registry.delete_config(request.path.get("subject", ""))


def _mode(registry: Registry, request: ApiRequest) -> Any:
    to_global = request.is_set("defaultToGlobal")
    return {"mode": registry.mode(request.path.get("subject", ""), default_to_global=to_global)}


def _set_mode(registry: Registry, request: ApiRequest) -> Any:
    mode = str(request.body("updateMode.request").get("mode") or "")
    subject = request.path.get("subject", "")
    return {"mode": registry.set_mode(subject, mode, force=request.is_set("force"))}


def _delete_mode(registry: Registry, request: ApiRequest) -> Any:
    return {"mode": registry.delete_mode(request.path.get("subject", ""))}


def _contexts(registry: Registry, request: ApiRequest) -> Any:
    found = [DEFAULT, *sorted(registry.state.contexts)]
    prefix = request.text("contextPrefix").strip(":")
    return request.paged(each for each in found if each.startswith(prefix))


def _delete_context(registry: Registry, request: ApiRequest) -> Any:
    registry.delete_context(request.path["context"])
    return ""


def _cluster(registry: Registry, request: ApiRequest) -> Any:
    scope = {"kafka-cluster": "odradek", "schema-registry-cluster": "schema-registry"}
    return {"id": "", "scope": {"path": [], "clusters": scope}}


def _server_version(registry: Registry, request: ApiRequest) -> Any:
    return {"version": VERSION, "commitId": ""}


ROUTES: dict[str, dict[str, _Act]] = {
    "/": {"GET": _root},
    "/subjects": {"GET": _subjects},
    "/subjects/{subject}": {"POST": _lookup, "DELETE": _delete_subject},
    "/subjects/{subject}/metadata": {"GET": _with_metadata},
    "/subjects/{subject}/versions": {"GET": _versions, "POST": _register},
    "/subjects/{subject}/versions/{version}": {"GET": _version, "DELETE": _delete_version},
    "/subjects/{subject}/versions/{version}/schema": {"GET": _version_schema},
    "/subjects/{subject}/versions/{version}/referencedby": {"GET": _referred_by},
    "/schemas": {"GET": _schemas},
    "/schemas/types": {"GET": _types},
    "/schemas/ids/{id}": {"GET": _by_id},
    "/schemas/ids/{id}/schema": {"GET": _id_schema},
    "/schemas/ids/{id}/subjects": {"GET": _id_subjects},
    "/schemas/ids/{id}/versions": {"GET": _id_versions},
    "/schemas/guids/{guid}": {"GET": _by_guid},
    "/schemas/guids/{guid}/ids": {"GET": _guid_ids},
    "/compatibility/subjects/{subject}/versions": {"POST": _compatible},
    "/compatibility/subjects/{subject}/versions/{version}": {"POST": _compatible},
    "/config": {"GET": _config, "PUT": _set_config, "DELETE": _delete_config},
    "/config/{subject}": {"GET": _config, "PUT": _set_config, "DELETE": _delete_config},
    "/mode": {"GET": _mode, "PUT": _set_mode, "DELETE": _delete_mode},
    "/mode/{subject}": {"GET": _mode, "PUT": _set_mode, "DELETE": _delete_mode},
    "/contexts": {"GET": _contexts},
    "/contexts/{context}": {"DELETE": _delete_context},
    "/v1/metadata/id": {"GET": _cluster},
    "/v1/metadata/version": {"GET": _server_version},
}
