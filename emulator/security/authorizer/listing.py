"""AclList: rules as a list, which prints as kafka-acls prints them."""

from __future__ import annotations

from .acl import Acl


class AclList(list[Acl]):
    """Access rules."""

    def __str__(self) -> str:
        lines = []
        for resource in dict.fromkeys(acl.resource for acl in self):
            lines.append(f"Current ACLs for resource `{resource}`:")
            lines += [f"\t{acl}" for acl in self if acl.resource == resource]
        return "\n".join(lines)
