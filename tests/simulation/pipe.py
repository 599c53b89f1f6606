"""A pipe: reads, transforms and writes exactly once, with the offsets in the transaction (KIP-447).

Each process has a transactional id of its own and is a member of the pipe's group. What it has read
is written to the same partition of another topic, one record for each; about which, its name says.
"""

from __future__ import annotations

from odradek.wire import Error

from tests.simulation.actor import Actor, Doing, Sleep
from tests.simulation.consuming import Delivered, Positions
from tests.simulation.membership import Member
from tests.simulation.transactions import Failed, Fenced, TransactionalProducer
from tests.simulation.world import World


class Pipe(Actor):
    """One process of a pipe from one topic to another."""

    def __init__(
        self,
        world: World,
        name: str,
        make: type[Member],
        group: str,
        topics: tuple[str, str],
        count: int,
        generation: int,
    ) -> None:
        super().__init__(world, name)
        self.source, self.target = topics
        self.count = count
        self.member = make(self, group, self.source, count)
        self.positions = Positions(self.member)
        self.producer = TransactionalProducer(self, name, generation)

    def reborn(self) -> None:
        self.member.reborn()
        self.producer.reborn()

    def play(self) -> Doing[None]:
        member = self.member
        yield from self._init()
        while not self.world.is_drained(member.group, self.source, self.count):
            yield from member.ensure()
            if not member.is_in or (member.is_fresh and not (yield from self.positions.refresh())):
                continue
            read = yield from self.positions.poll(committed=True)
            if read:
                yield from self._carry_over(read)
            yield Sleep(self.random.choice((5, 100, 500)))
        yield from member.leave()

    def _init(self) -> Doing[None]:
        try:
            yield from self.producer.init()
        except (Fenced, Failed):
            self.producer.reborn()

    def _carry_over(self, read: dict[int, list[Delivered]]) -> Doing[None]:
        producer, member = self.producer, self.member
        try:
            yield from producer.begin()
            for index, records in read.items():
                abouts = [b"%d:%d" % (index, each.offset) for each in records]
                yield from producer.write((self.target, index), abouts)
                if self.random.random() < 0.2:
                    yield Sleep(self.random.choice((5, 300, 2000)))
            for index in read:
                place, offset = (self.source, index), self.positions.at[index]
                yield from producer.send_offset(member.group, place, offset, member.identity)
            yield from producer.end(commit=self.random.random() < 0.9)
            member.is_fresh = True  # where it goes on is what was committed, or not
        except Fenced:
            producer.reborn()
            member.is_fresh = True
        except Failed as failed:
            yield from self._failed(str(failed))

    def _failed(self, error: str) -> Doing[None]:
        self.producer.check_failed(error)
        yield from self.producer.give_up()
        member = self.member
        member.is_fresh, member.beaten = True, 0
        if error == Error.UNKNOWN_MEMBER_ID.name:
            member.reborn()
        elif error == Error.ILLEGAL_GENERATION.name:
            member.is_in = False
