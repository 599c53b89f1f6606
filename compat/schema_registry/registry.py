"""Registry: what may be asked of a schema registry, and what may be written to it.

A writer first reads to the topic's end, decides, writes, and reads again until its own record came
back: what the topic says is the state, also where another registry writes to it. Not emulated:
associations, data contracts' rules (stored and shown, not checked), tags, exporters, encryption.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..schemas.registry import AVRO
from . import records
from .compatibility import Earlier, problems
from .errors import LEVELS, MODES, Refused
from .formats import KINDS, BadSchema, Schema, parse, written
from .limits import BYTES_MAX, REFERENCES_MAX
from .records import Version, key_of
from .store import State
from .subjects import DEFAULT, GLOBAL, beside, is_valid, subject_of

if TYPE_CHECKING:
    from .topic import SchemasTopic

_LATEST = ("latest", "-1")
_VERSION_MAX = (1 << 31) - 1
_CACHE = 2_000
_NOT_FOUND = 404
_IMPORT = ("IMPORT", "FORWARD")
_CONFIG_FIELDS = (
    "alias", "normalize", "compatibilityPolicy", "validateFields", "validateNames",
    "validateNewSchemas", "validateRules", "compatibilityGroup", "defaultMetadata",
    "overrideMetadata", "defaultRuleSet", "overrideRuleSet",
)  # fmt: skip


class Registry:
    """A registry over a log. One caller at a time."""

    def __init__(self, log: SchemasTopic) -> None:
        self._log = log
        self._parsed: OrderedDict[tuple[str, str, str], Schema] = OrderedDict()

    @property
    def state(self) -> State:
        return self._log.state()

    # Subjects and versions

    def version(self, subject: str, wanted: str, *, deleted: bool = False) -> Version:
        """A version of a subject, by its number or as the latest. Raises Refused."""
        number = version_number(wanted)
        return self._in_contexts(subject, lambda name: self._version(name, number, deleted))

    def _version(self, subject: str, number: int | None, deleted: bool) -> Version:
        found = self.state.versions(subject, deleted=deleted)
        if not found:
            raise Refused("no_subject", subject)
        if number is None:
            return found[-1]
        for each in found:
            if each.version == number:
                return each
        raise Refused("no_version", number)

    def latest_with(self, subject: str, metadata: dict[str, str], *, deleted: bool) -> Version:
        """The newest version whose metadata has these properties. Raises Refused."""
        subject = self.real_name(subject)
        there = self.state.versions(subject, deleted=deleted)
        for each in reversed(there):
            own = (each.metadata or {}).get("properties")
            if own is not None and metadata.items() <= own.items():
                return each
        raise Refused("no_schema") if there else Refused("no_subject", subject)

    def _in_contexts(self, subject: str, look: Callable[[str], Version]) -> Version:
        """The versions under this name, or if there are none, in another context. Raises
        Refused."""
        subject = self.real_name(subject)
        try:
            return look(subject)
        except Refused as refused:
            if subject_of(subject).context == DEFAULT and refused.status == _NOT_FOUND:
                for context in sorted(self.state.contexts):
                    with suppress(Refused):
                        return look(f":{context}:{subject}")
            raise

    def real_name(self, subject: str) -> str:
        """The subject that this one is an alias of, or itself."""
        alias = self._configured(subject).get("alias")
        return str(alias) if alias else subject_of(subject).full

    def register(self, subject: str, body: dict[str, Any], *, normalize: bool) -> Version:
        """The version that has this schema, added if there is none. Raises Refused."""
        if not is_valid(subject):
            raise Refused("invalid_subject", subject)
        subject = self.real_name(subject)
        there, mode = self.state.versions(subject), self.mode_in_force(subject)
        config, is_import = self.config_in_force(subject), mode in _IMPORT
        wanted_id, number = _number(body, "id", -1), _number(body, "version", 0)
        made = self._made(subject, body, there, is_import=is_import)
        normal = (normalize or bool(config.get("normalize"))) and not is_import
        schema = self._canonical(made, normalize=normal, is_new=False)
        same = [
            each
            for each in reversed(there)
            if not number and wanted_id in (each.id, -1) and self._is_same(made, each)
        ]
        if same and body.get("schema"):  # also where nothing may be written
            return same[0]
        self._check_mode(subject, mode, has_id=wanted_id >= 0)
        if same:
            return same[0]
        if wanted_id < 0:
            schema = self._canonical(made, normalize=normal, is_new=True)
        if not is_import:
            level = str(config["compatibilityLevel"])
            found = problems(level, schema, self._earlier(reversed(there)))
            if found:
                raise Refused("incompatible", subject, f"[{', '.join(found)}]")
        self._place(made, wanted_id, number, is_import=is_import)
        return self._append(made)

    def lookup(
        self, subject: str, body: dict[str, Any], *, normalize: bool, deleted: bool
    ) -> Version:
        """The version of a subject that has this schema. Raises Refused."""

        def look(name: str) -> Version:
            there = self.state.versions(name, deleted=deleted)
            made = self._made(name, body, [], is_import=False)
            normal = normalize or bool(self.config_in_force(name).get("normalize"))
            if made.text:
                self._canonical(made, normalize=normal, is_new=False)
            if not there:
                raise Refused("no_subject", name)
            for each in reversed(there):
                if self._is_same(made, each):
                    return each
            raise Refused("no_schema")

        return self._in_contexts(subject, look)

    def compatible(
        self, subject: str, wanted: str | None, body: dict[str, Any], *, normalize: bool
    ) -> list[str]:
        """Why a schema may not follow one version of a subject, or all that its level looks at;
        empty if it may. Raises Refused."""
        number = None if wanted is None else version_number(wanted)
        subject = self.real_name(subject)
        there = self.state.versions(subject)
        if wanted is not None and number is not None:
            there = [each for each in there if each.version == number]
            if not there:
                raise Refused("no_version", number)
        elif wanted is not None:
            there = there[-1:]
        config = self.config_in_force(subject)
        made = self._made(subject, body, [], is_import=False)
        normal = normalize or bool(config.get("normalize"))
        schema = self._canonical(made, normalize=normal, is_new=True)
        level = str(config["compatibilityLevel"])
        return problems(level, schema, self._earlier(reversed(there)))

    def delete_subject(self, subject: str, *, permanent: bool) -> list[int]:
        """Delete all its versions; their numbers. Raises Refused."""
        subject = self.real_name(subject)
        state = self.state
        every, live = state.versions(subject, deleted=True), state.versions(subject)
        if not every:
            raise Refused("no_subject", subject)
        if not permanent and not live:
            raise Refused("subject_soft_deleted", subject)
        self._check_writable(subject)
        if permanent and live:
            raise Refused("subject_not_soft_deleted", subject)
        gone = every if permanent else live
        for each in gone:
            self._check_not_referred(each, permanent=permanent, within=False)
        if permanent:
            keys = [key_of(records.SCHEMA, subject, each.version) for each in reversed(gone)]
            self._log.write((key, None) for key in keys)
            self._forget_settings(subject)
        else:
            said = {"subject": subject, "version": live[-1].version}
            self._log.write([(key_of(records.DELETE_SUBJECT, subject), written(said).encode())])
        return [each.version for each in gone]

    def delete_version(self, subject: str, wanted: str, *, permanent: bool) -> int:
        """Delete one version; its number. Raises Refused."""
        subject = self.real_name(subject)
        found = self.stored(subject, wanted)
        if found.deleted and not permanent:
            raise Refused("version_soft_deleted", subject, found.version)
        self._check_writable(subject)
        if permanent and not found.deleted:
            raise Refused("version_not_soft_deleted", subject, found.version)
        self._check_not_referred(found, permanent=permanent)
        key = key_of(records.SCHEMA, subject, found.version)
        if permanent:
            self._log.write([(key, None)])
            if not self.state.versions(subject, deleted=True):
                self._forget_settings(subject)
        else:
            self._log.write([(key, written({**found.value(), "deleted": True}).encode())])
        return found.version

    def stored(self, subject: str, wanted: str) -> Version:
        """A version, deleted softly or not; the latest is one that is not. Raises Refused."""
        number = version_number(wanted)
        subject = self.real_name(subject)
        if not self.state.versions(subject, deleted=True):
            raise Refused("no_subject", subject)
        there = self.state.versions(subject, deleted=number is not None)
        if number is None and there:
            return there[-1]
        for each in there:
            if each.version == number:
                return each
        raise Refused("no_version", -1 if number is None else number)

    # Settings

    def config_in_force(self, subject: str) -> dict[str, Any]:
        """A subject's settings over those of its context, over those of all."""
        made: dict[str, Any] = {"compatibilityLevel": "BACKWARD"}
        for name in _scopes(subject):
            made |= self._configured(name)
        return made

    def config(self, subject: str, *, default_to_global: bool) -> dict[str, Any]:
        """The settings of a subject alone, or with those it falls back to. Raises Refused."""
        if not subject or default_to_global:
            return self.config_in_force(subject)
        own = self._configured(subject)
        if not own:
            raise Refused("no_level", subject)
        return own

    def set_config(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        """Change settings; returns what was given, as it was understood. Raises Refused."""
        level = body.get("compatibility")
        if level is not None and str(level).upper() not in LEVELS:
            raise Refused("invalid_level")
        self._check_name(subject)
        self._check_writable(subject)
        changed = {key: body[key] for key in _CONFIG_FIELDS if body.get(key) is not None}
        made = {**self._configured(subject), **changed}
        if level is not None:
            made["compatibilityLevel"] = str(level).upper()
        if subject:
            made = {"subject": subject, **made}
        self._log.write([(key_of(records.CONFIG, subject or None), written(made).encode())])
        made = self._configured(subject)
        asked = dict(made)
        answered = {"compatibility": asked.pop("compatibilityLevel", None), **asked}
        return {key: value for key, value in answered.items() if value is not None}

    def delete_config(self, subject: str) -> dict[str, Any]:
        """Forget the settings of a subject, or of all; what they were. Raises Refused."""
        own = self._configured(subject)
        if not own and subject:
            raise Refused("no_subject", subject)
        self._check_writable(subject)
        found = own or self.config_in_force(subject)
        self._log.write([(key_of(records.CONFIG, subject or None), None)])
        return found

    def mode_in_force(self, subject: str) -> str:
        """Of a subject: what is said of all wins where it is READONLY_OVERRIDE."""
        found = "READWRITE"
        for name in _scopes(subject):
            found = self.state.modes.get(name, found)
        return self.state.modes[""] if self._is_overridden else found

    def mode(self, subject: str, *, default_to_global: bool) -> str:
        """Raises Refused."""
        if not subject or default_to_global:
            return self.mode_in_force(subject)
        if subject not in self.state.modes:
            raise Refused("no_mode", subject)
        return self.state.modes[subject]

    def set_mode(self, subject: str, mode: str, *, force: bool) -> str:
        """Raises Refused."""
        if str(mode).upper() not in MODES:
            raise Refused("invalid_mode")
        mode = str(mode).upper()
        self._check_name(subject)
        if mode == "IMPORT" and self.mode_in_force(subject) != "IMPORT" and not force:
            self._check_empty(subject)
        said = {"subject": subject, "mode": mode} if subject else {"mode": mode}
        self._log.write([(key_of(records.MODE, subject or None), written(said).encode())])
        return mode

    def delete_mode(self, subject: str) -> str:
        """Raises Refused."""
        found = self.state.modes.get(subject)
        if found is None and subject:
            raise Refused("no_subject", subject)
        self._log.write([(key_of(records.MODE, subject or None), None)])
        return found or self.mode_in_force("")

    def delete_context(self, context: str) -> None:
        """Forget a context without subjects. Raises Refused."""
        name = context.strip(":") or DEFAULT
        if any(subject_of(each).context == name for each in self.state.subjects):
            raise Refused("context_not_empty", context)
        self._log.write([(key_of(records.CONTEXT, name), None)])

    # Schemas

    def parsed(self, version: Version) -> Schema:
        """A stored schema, read. Raises Refused."""
        return self._read(version, self._named(version, is_stored=True), strict=False)

    def _earlier(self, versions: Iterable[Version]) -> Iterable[Earlier]:
        for each in versions:
            yield Earlier(each.version, lambda each=each: self.parsed(each))  # type: ignore[misc]

    def _made(
        self, subject: str, body: dict[str, Any], there: list[Version], *, is_import: bool
    ) -> Version:
        """The version that a request means, with what it leaves out taken from the latest."""
        kind = body.get("schemaType") or AVRO
        text = body.get("schema")
        if not isinstance(kind, str) or kind not in KINDS:
            raise Refused("invalid_schema", f"Invalid schema type {kind}")
        if text is not None and not isinstance(text, str):
            raise Refused("bad_request", f"schema is text, not {type(text).__name__}")
        if not isinstance(body.get("references") or [], list):
            raise Refused("bad_request", "references is a list")
        references = [_reference(each) for each in body.get("references") or ()]
        made = Version(subject, 0, -1, kind, text or "", references)
        made.references = self._numbered(made)
        made.metadata, made.rule_set = _object(body, "metadata"), _object(body, "ruleSet")
        if is_import or not there:
            return made
        latest = there[-1]
        if not made.text:
            made.text, made.kind, made.references = latest.text, latest.kind, latest.references
        if made.metadata is None:
            made.metadata = latest.metadata
        if made.rule_set is None:
            made.rule_set = latest.rule_set
        return made

    def _is_same(self, made: Version, there: Version) -> bool:
        """Whether a schema is one that is stored: also where one of both refers to the newest of a
        subject by -1 and the other by its number, or where one of Avro comes with what it refers to
        within it."""
        if made.content == there.content:
            return True
        one, other = (replace(each, references=[]) for each in (made, there))
        if one.content == other.content:
            return self._numbered(made) == self._numbered(there)
        if made.kind != AVRO or made.references or not there.references:
            return False
        one.text = other.text = ""
        with suppress(BadSchema, Refused):
            resolved = self.parsed(there).formatted("resolved")
            return one.content == other.content and made.text == resolved
        return False

    def _numbered(self, version: Version) -> list[dict[str, Any]]:
        """Its references, those to the newest of a subject by its number."""
        made = []
        for each in version.references:
            there = self.state.versions(beside(version.subject, each["subject"]))
            is_latest = each["version"] == -1 and bool(there)
            made.append({**each, "version": there[-1].version} if is_latest else each)
        return made

    def _canonical(self, made: Version, *, normalize: bool, is_new: bool) -> Schema:
        """Read a schema, and write it the one way that it is stored in."""
        if not made.text:
            raise Refused("invalid_schema", "Empty schema")
        if len(made.text) > BYTES_MAX:
            raise Refused("too_large", "Write failed because schema is too large")
        named = self._named(made, is_stored=not is_new)
        schema = self._read(made, named, strict=is_new)
        made.text = schema.normalized() if normalize else schema.text
        if normalize:
            unique = {written(each): each for each in made.references}
            made.references = sorted(unique.values(), key=lambda each: each["name"])
        return schema

    def _read(self, version: Version, named: dict[str, str], *, strict: bool) -> Schema:
        key = (f"{version.kind} {strict}", version.text, written(named))
        found = self._parsed.get(key)
        if found is None:
            try:
                found = parse(version.kind, version.text, named, strict=strict)
            except BadSchema as error:
                what = f"Invalid schema of type {version.kind}, details: {error}"
                raise Refused("invalid_schema", what) from None
            self._parsed[key] = found
            while len(self._parsed) > _CACHE:
                self._parsed.popitem(last=False)
        self._parsed.move_to_end(key)
        return found

    def _named(self, version: Version, *, is_stored: bool) -> dict[str, str]:
        """The texts of all schemas that this one is made of, by the names of the references, those
        that others need before them. What is stored may refer to what was deleted since. Raises
        Refused."""
        found: dict[str, str] = {}
        self._collect(version, found, set(), is_stored=is_stored)
        return found

    def _collect(
        self,
        version: Version,
        found: dict[str, str],
        seen: set[tuple[str, int]],
        *,
        is_stored: bool,
    ) -> None:
        for each in version.references:
            subject, number = beside(version.subject, each["subject"]), each["version"]
            if len(seen) > REFERENCES_MAX:
                raise Refused("invalid_schema", f"more than {REFERENCES_MAX} references")
            if (subject, number) in seen or each["name"] in found:
                continue
            there = self.state.versions(subject, deleted=is_stored and number != -1)
            one = next((v for v in reversed(there) if number in (-1, v.version)), None)
            if one is None:
                raise Refused(
                    "invalid_schema",
                    f"Invalid schema of type {version.kind}, details: No schema reference found "
                    f'for subject "{each["subject"]}" and version {number}',
                )
            seen.add((subject, number))
            self._collect(one, found, seen, is_stored=True)
            found[each["name"]] = one.text

    # Writing

    def _place(self, made: Version, wanted_id: int, number: int, *, is_import: bool) -> None:
        state, context = self.state, subject_of(made.subject).context
        known = state.id_of(context, made.content)
        every = state.versions(made.subject, deleted=True)
        newest = every[-1].version + 1 if every else 1
        if number > 0 and number != newest and not is_import:
            raise Refused("invalid_schema", "Version is not one more than previous version")
        made.version = number if number > 0 else newest
        made.id = wanted_id if wanted_id >= 0 else known or state.next_id(context)
        others = state.by_id(context, made.id)
        if wanted_id >= 0 and others and others[0].content != made.content:
            text = (
                f"Overwrite new schema with id {made.id} is not permitted: "
                "another schema has this id"
            )
            raise Refused("not_permitted", text)

    def _append(self, made: Version) -> Version:
        context = subject_of(made.subject).context
        entries: list[tuple[bytes, bytes | None]] = []
        if context != DEFAULT and context not in self.state.contexts:
            said = {"tenant": "default", "context": context}
            entries.append((key_of(records.CONTEXT, context), written(said).encode()))
        for each in self.state.versions(made.subject, deleted=True):
            is_same = each.deleted and each.id == made.id and each.version < made.version
            if is_same and not self.state.referring(made.subject, each.version, deleted=True):
                entries.append((key_of(records.SCHEMA, made.subject, each.version), None))
        key = key_of(records.SCHEMA, made.subject, made.version)
        self._log.write([*entries, (key, written(made.value()).encode())])
        return self.state.subjects[made.subject][made.version]

    def _forget_settings(self, subject: str) -> None:
        gone: list[tuple[bytes, bytes | None]] = []
        if subject in self.state.modes:
            gone.append((key_of(records.MODE, subject), None))
        if subject in self.state.configs:
            gone.append((key_of(records.CONFIG, subject), None))
        if gone:
            self._log.write(gone)

    # Checks

    @property
    def _is_overridden(self) -> bool:
        return self.state.modes.get("") == "READONLY_OVERRIDE"

    def _configured(self, subject: str) -> dict[str, Any]:
        found = self.state.configs.get(subject, {})
        return {key: value for key, value in found.items() if key != "subject"}

    def _check_name(self, subject: str) -> None:
        is_context = subject_of(subject).is_context
        if subject and not is_context and not is_valid(subject):
            raise Refused("invalid_subject", subject)

    def _check_mode(self, subject: str, mode: str, *, has_id: bool) -> None:
        context = _qualified_context(subject)
        where = f"Subject {subject} in context {context} is"
        if mode.startswith("READONLY"):
            raise Refused("not_permitted", f"{where} in read-only mode")
        if has_id and mode not in _IMPORT:
            raise Refused("not_permitted", f"{where} not in import mode")
        if not has_id and mode != "READWRITE":
            raise Refused("not_permitted", f"{where} not in read-write mode")

    def _check_writable(self, subject: str) -> None:
        if self.mode_in_force(subject).startswith("READONLY"):
            context = _qualified_context(subject)
            where = f"Subject {subject or 'null'} in context {context}"
            raise Refused("not_permitted", f"{where} is in read-only mode")

    def _check_not_referred(
        self, version: Version, *, permanent: bool, within: bool = True
    ) -> None:
        """`within`: a schema of the same subject counts, too."""
        found = self.state.referring(version.subject, version.version, deleted=permanent)
        if any(within or each.subject != version.subject for each in found):
            raise Refused("referred_to", version.subject, version.version)

    def _check_empty(self, subject: str) -> None:
        wanted = subject_of(subject)
        for name in self.state.subjects:
            found = subject_of(name)
            is_in = not subject or (wanted.is_context and found.context == wanted.context)
            if (is_in or name == subject) and self.state.versions(name):
                raise Refused("not_permitted", "Cannot import since found existing subjects")


def version_number(wanted: str) -> int | None:
    """None for the latest. Raises Refused."""
    if wanted in _LATEST:
        return None
    if not wanted.isascii() or not wanted.isdigit() or not 1 <= int(wanted[:12]) <= _VERSION_MAX:
        raise Refused("invalid_version", wanted)
    return int(wanted)


def _scopes(subject: str) -> list[str]:
    """Where settings of a subject are looked for, the last one wins."""
    context = subject_of(subject).context
    above = [GLOBAL, "" if context == DEFAULT else f":{context}:"]
    return [*above, subject] if subject else above


def _qualified_context(subject: str) -> str:
    context = subject_of(subject).context
    return "" if context == DEFAULT else f":{context}:"


def _number(body: dict[str, Any], key: str, otherwise: int) -> int:
    found = body.get(key)
    if found is None:
        return otherwise
    if isinstance(found, bool) or not isinstance(found, int):
        raise Refused("bad_request", f"{key} is a number, not {found!r}")
    return otherwise if found <= 0 else found


def _object(body: dict[str, Any], key: str) -> dict[str, Any] | None:
    found = body.get(key)
    if found is not None and not isinstance(found, dict):
        raise Refused("bad_request", f"{key} is an object, not {found!r}")
    return found


def _reference(value: Any) -> dict[str, Any]:
    try:
        number = int(value["version"])
        return {"name": str(value["name"]), "subject": str(value["subject"]), "version": number}
    except (KeyError, TypeError, ValueError):
        text = f"a reference has a name, a subject and a version, not {written(value)}"
        raise Refused("invalid_schema", text) from None
