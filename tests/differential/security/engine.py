"""How a sequence is run at brokers with an authorizer.

A connection whose name begins with a user's and a slash, "alice/1", is one on which that user has
logged in; any other is the super user's. After a change of the rules the next step waits until both
brokers list the same ones: a real broker's authorizer is older than its answer for a moment.
"""

from __future__ import annotations

import re
import time
from typing import Any

from odradek.wire.api.create_acls import CreateAclsRequest
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.describe_acls import DescribeAclsRequest

from tests.security.secured import ALL_ACLS, Secured, log_in_on

from ..allowed import Allowances
from ..engine.asker import Asker
from ..engine.engine import Engine, SequenceRun
from ..engine.normalize import Normalizer
from ..engine.side import Link, Side
from ..engine.steps import Ask, Step, World

_SETTLE_S = 10.0
_NEEDS = re.compile(r"Request Request\(.*\) needs ", re.DOTALL)
_CHANGES_RULES = (CreateAclsRequest, DeleteAclsRequest)


class SecuredSide(Side):
    broker: Secured

    def _link(self, on: str) -> Link:
        user, slash, _ = on.partition("/")
        if slash and on not in self._links:
            link = Link(("127.0.0.1", self.broker.secured_port))
            log_in_on(link.socket, user)
            self._links[on] = link
        return super()._link(on)


class SecuredEngine(Engine):
    def __init__(self, real: Secured, ours: Secured, allowances: Allowances | None = None) -> None:
        super().__init__(real, ours, allowances)
        self.sides = (SecuredSide(real), SecuredSide(ours))
        self.admins = [Asker(side.address) for side in self.sides]

    @property
    def runner(self) -> type[SequenceRun]:
        return SecuredRun

    def wait_for_rules(self) -> None:
        """Wait until both list the same rules."""
        deadline = time.monotonic() + _SETTLE_S
        while _rules(self.admins[0]) != _rules(self.admins[1]) and time.monotonic() < deadline:
            time.sleep(0.005)


class SecuredRun(SequenceRun):
    engine: SecuredEngine

    def __init__(self, *begun_with: Any) -> None:
        super().__init__(*begun_with)
        for side, normalizer in zip(self.engine.sides, self.normalizers, strict=True):
            assert isinstance(side, SecuredSide)
            normalizer.know_port(side.broker.secured_port)

    def settle(self, index: int, step: Step) -> None:
        super().settle(index, step)
        if isinstance(step, Ask) and isinstance(step.request, _CHANGES_RULES):
            self.engine.wait_for_rules()

    def _tree(self, arrived: Any, world: World, normalizer: Normalizer) -> Any:
        return _mapped(super()._tree(arrived, world, normalizer))


def _mapped(tree: Any) -> Any:
    """Without the connection that a real broker names in some of its sentences."""
    if isinstance(tree, dict):
        return {name: _mapped(each) for name, each in tree.items()}
    if isinstance(tree, list):
        return [_mapped(each) for each in tree]
    return _NEEDS.sub("Request needs ", tree) if isinstance(tree, str) else tree


def _rules(admin: Asker) -> set[tuple[Any, ...]]:
    request: DescribeAclsRequest = ALL_ACLS
    return {
        (each.resource_type, each.resource_name, each.pattern_type, acl.principal, acl.host,
         acl.operation, acl.permission_type)
        for each in admin.ask(request, 3).resources
        for acl in each.acls
    }  # fmt: skip
