"""Who may connect, as a test sets and sees it: users, certificates, log-ins that failed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ...wire.stored.cluster import ConfigRecord
from ..cluster import Cluster
from ..metadata.image import BROKER_RESOURCE
from .facet import Facet

if TYPE_CHECKING:
    from pathlib import Path

    from ..security.security import LogInFailure
    from ..security.tls.certificates import Certificate, Certificates


class Secured(Facet):
    """Verbs about security (docs/security.md)."""

    # What of Emulator is used here.
    _users: dict[str, str]
    _given_dir: Path | None

    @property
    def log_in_failures(self) -> list[LogInFailure]:
        """The last log-ins that failed, in order, with more than the client was told."""
        return self.run(lambda cluster: list(cluster.security.failures))

    @property
    def user_names(self) -> list[str]:
        """Who may log in with a password, as it was given at the start."""
        return list(self._users)

    @property
    def shows_own_certificate(self) -> bool:
        """Whether a listener shows a certificate of `certificates`, as no other was given."""
        return "certificates" in self.__dict__

    @cached_property
    def certificates(self) -> Certificates:
        """The authority whose certificates the brokers show, and trust, where no others are given;
        it makes more of them. `odradek serve` keeps one in its data directory. Raises
        TlsUnavailable without the package that it needs, ValueError if what is kept is none."""
        from ..security.tls.certificates import Certificates

        return Certificates(kept_in=self._given_dir)

    def show_certificate(self, certificate: Certificate) -> None:
        """Have every broker show this certificate to clients that connect from now on, at each
        listener with TLS. Raises TypeError; ValueError if there is no such listener."""
        from ..security.given import shown
        from ..security.tls.certificates import Certificate

        if not isinstance(certificate, Certificate):
            raise TypeError(f"kafka.certificates makes what is shown, not {certificate!r}")

        def done(cluster: Cluster) -> None:
            secured = [each for each in cluster.security.listeners.values() if each.has_tls]
            if not secured:
                raise ValueError("there is no listener with TLS")
            texts: dict[str, str] = {}
            for listener in secured:
                texts |= shown(listener, certificate)
            cluster.metadata.append(
                [
                    ConfigRecord(
                        resource_type=BROKER_RESOURCE,
                        resource_name=str(node_id),
                        name=name,
                        value=text,
                    )
                    for node_id in cluster.nodes
                    for name, text in texts.items()
                ]
            )

        self.run(done)
