"""Requests that only the controller carries out wait while the broker that is asked reaches none.

A broker forwards them: creating topics, changing configs, elections, reassignments, ... Without a
controller it keeps them, past the time-out that they name, and forwards them once there is one.
Clients give up before, or are answered then. Source: KIP-590, semantics O27.

Left out: that the broker itself answers REQUEST_TIMED_OUT after `request.timeout.ms`.
"""

from __future__ import annotations

from ...wire import Request
from ...wire.api.add_raft_voter import AddRaftVoterRequest
from ...wire.api.alter_client_quotas import AlterClientQuotasRequest
from ...wire.api.alter_configs import AlterConfigsRequest
from ...wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ...wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from ...wire.api.create_acls import CreateAclsRequest
from ...wire.api.create_delegation_token import CreateDelegationTokenRequest
from ...wire.api.create_partitions import CreatePartitionsRequest
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.delete_acls import DeleteAclsRequest
from ...wire.api.delete_topics import DeleteTopicsRequest
from ...wire.api.describe_quorum import DescribeQuorumRequest
from ...wire.api.elect_leaders import ElectLeadersRequest
from ...wire.api.expire_delegation_token import ExpireDelegationTokenRequest
from ...wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from ...wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from ...wire.api.remove_raft_voter import RemoveRaftVoterRequest
from ...wire.api.renew_delegation_token import RenewDelegationTokenRequest
from ...wire.api.unregister_broker import UnregisterBrokerRequest
from ...wire.api.update_features import UpdateFeaturesRequest
from ..base.call import PARKED, Call
from ..base.chain import Outcome, Step
from .quorum import Quorum

FORWARDED = frozenset(
    {
        AddRaftVoterRequest,
        AlterClientQuotasRequest,
        AlterConfigsRequest,
        AlterPartitionReassignmentsRequest,
        AlterUserScramCredentialsRequest,
        CreateAclsRequest,
        CreateDelegationTokenRequest,
        CreatePartitionsRequest,
        CreateTopicsRequest,
        DeleteAclsRequest,
        DeleteTopicsRequest,
        DescribeQuorumRequest,
        ElectLeadersRequest,
        ExpireDelegationTokenRequest,
        IncrementalAlterConfigsRequest,
        ListPartitionReassignmentsRequest,
        RemoveRaftVoterRequest,
        RenewDelegationTokenRequest,
        UnregisterBrokerRequest,
        UpdateFeaturesRequest,
    }
)


class ControllerGate(Step):
    """Holds them; a step of the chain only while a broker does not reach the controller."""

    def __init__(self, quorum: Quorum) -> None:
        self._quorum = quorum
        self._held: list[Call] = []

    def before(self, call: Call, request: Request) -> Outcome:
        if type(request) not in FORWARDED or self._quorum.reaches(call.node_id):
            return None
        self._held.append(call)
        return PARKED

    def open(self) -> None:
        """Pass on those whose broker reaches the controller again."""
        held, self._held = self._held, []
        for call in held:
            if self._quorum.reaches(call.node_id):
                call.go_on()
            elif call.is_open:
                self._held.append(call)
