"""One partition under a rung, as the search plays it: a state is one number.

A state is the numbers of its parts side by side (`numbering.py`); a move adds a difference to it.
What a pair of replicas can do depends on these two and on the leader's announcements alone, so
each answer of a rule is computed once and kept (`Table`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from typing import Final, NamedTuple

from engine.ladder import invariants, rules, steps
from engine.ladder.numbering import BITS, MASK, Numbering
from engine.ladder.rungs import Rung
from engine.ladder.search import LadderMove
from engine.ladder.state import (
    NOBODY,
    AbstractController,
    AbstractReplica,
    Constants,
    beginning,
    members,
    renamed,
    renamed_controller,
)
from engine.ladder.tables import NOTHING, Moves, StateTable, counts_of, moves_of


class Renaming:
    """One way to give the replicas each other's names: r becomes names[r]."""

    def __init__(self, numbers: Numbering, names: tuple[int, ...]) -> None:
        self.shifts = [numbers.shifts[name] for name in names]

        def renamed_replica(number: int) -> int:
            return numbers.replica_number(renamed(numbers.replicas[number], names))

        def renamed_record(number: int) -> int:
            record = renamed_controller(numbers.controllers[number], names)
            return numbers.controller_number(record) << numbers.top

        self.replica = StateTable(renamed_replica)
        self.record = StateTable(renamed_record)
        self.places = sorted(range(len(names)), key=names.__getitem__)
        """The replicas in their new order."""


class Renamings:
    """All ways to rename, and the least image of a state under them."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        every = permutations(range(len(numbers.shifts)))
        self._all = [Renaming(numbers, names) for names in every]
        self._alike: dict[tuple[object, ...], int] = {}
        self._likeness = StateTable(self._likeness_of)
        self._sorting: dict[tuple[int, ...], list[Renaming]] = {}

    def representative(self, state: int) -> int:
        """Return the least number among the images under the renamings that sort the replicas.

        They are sorted by what no renaming changes (log, high watermark, epoch), so only those
        that are alike in this are tried in every order.
        """
        replicas = [state >> shift & MASK for shift in self._numbers.shifts]
        likeness = self._likeness
        alike = tuple([likeness[replica] for replica in replicas])
        sorting = self._sorting.get(alike)
        if sorting is None:
            sorting = self._sorting[alike] = self._that_sort(alike)
        record = state >> self._numbers.top
        least = -1
        for renaming in sorting:
            image = renaming.record[record]
            for replica, shift in zip(replicas, renaming.shifts, strict=True):
                image |= renaming.replica[replica] << shift
            if least < 0 or image < least:
                least = image
        return least

    def _likeness_of(self, number: int) -> int:
        replica = self._numbers.replicas[number]
        key = (replica.log, replica.hw, replica.epoch)
        return self._alike.setdefault(key, len(self._alike))

    def _that_sort(self, alike: tuple[int, ...]) -> list[Renaming]:
        return [
            renaming
            for renaming in self._all
            if all(alike[before] <= alike[after] for before, after in pairwise(renaming.places))
        ]


KINDS: Final = (
    "controller-elects",
    "controller-shrinks",
    "becomes-leader",
    "becomes-follower",
    "writes",
    "leader-shrinks-isr",
    "leader-expands-isr",
    "advances-hw",
    "fetches",
    "truncates",
)
STRONG: Final = invariants.BIT["StrongIsr"]
BROKEN: Final = (1 << len(invariants.NAMES)) - 1


class OfController(NamedTuple):
    """Known fields of a controller's record."""

    broken: int
    moves: Moves
    isr: int
    leader: int
    epoch: int
    heard: tuple[int, ...]
    """Number of the announcements that name each replica, above a pair's bits."""


class OfReplica(NamedTuple):
    """Known fields of a replica."""

    facts: int
    presumes: bool
    epoch: int
    needs: int
    """The facts that must be known for its high watermark to advance."""
    advance: Moves
    """That advance; nothing for a follower, or at the end of the largest log."""


class Layout:
    """Places of facts in the number that gathers what is known of replicas and pairs.

    From the right: the broken invariants; replicas that disagree with a leader (N bits); for each
    leader N bits of replicas that allow it the next offset; for each leader three times N bits of
    replicas that it may take out in one way, in a second way, and that it may take in.
    """

    def __init__(self, replicas: int) -> None:
        self.each = replicas
        self.all = (1 << replicas) - 1
        self.disagrees = len(invariants.NAMES)
        allows = self.disagrees + replicas
        isr = allows + replicas * replicas
        self.allows = [allows + leader * replicas for leader in range(replicas)]
        self.isr = [isr + leader * 3 * replicas for leader in range(replicas)]
        self.isr_mask = (1 << 3 * replicas) - 1
        self.shrink_mask = (1 << 2 * replicas) - 1


class AbstractPartition:
    """A rung at a size, as `Search` wants it: the beginning, and what follows from a state."""

    invariants = invariants.NAMES
    kinds = KINDS
    bounded = False

    def __init__(self, rung: Rung, constants: Constants) -> None:
        self.rung = rung
        self.constants = constants
        n = constants.replicas
        self._layout = Layout(n)
        self._numbers = numbers = Numbering(n)
        self._shifts, self._top = numbers.shifts, numbers.top
        self._replicas, self._controllers = numbers.replicas, numbers.controllers
        self._pairs = list(combinations(range(n), 2))
        self._fired = 0
        self._of_controller = StateTable(self._know_controller)
        self._of_replica = StateTable(self._know_replica)
        self._of_pair = StateTable(self._facts_of_pair)
        self._alone = StateTable(self._moves_alone)
        self._following = StateTable(self._moves_of_follower)
        self._isr_changes = StateTable(self._moves_of_isr)
        self._renamings = Renamings(numbers)
        self.initial = numbers.number(beginning(constants))
        self.cluster = numbers.cluster
        self.representative = self._renamings.representative

    # -- changes of a state ------------------------------------------------------------------------

    def _change(self, old: AbstractReplica, new: AbstractReplica) -> int:
        """Return the difference to a state in which a replica becomes another."""
        change = self._numbers.replica_number(new) - self._numbers.replica_number(old)
        return change << self._shifts[old.me]

    def _record_change(self, old: AbstractController, new: AbstractController) -> int:
        return (
            self._numbers.controller_number(new) - self._numbers.controller_number(old)
        ) << self._top

    # -- the search's question --------------------------------------------------------------------

    def look(self, state: int) -> tuple[int, list[int]]:
        groups, facts, isr = self._known(state)
        nexts: list[int] = []
        for added, fired, _ in groups:
            self._fired += fired
            for change in added:
                nexts.append(state + change)
        broken = facts & BROKEN
        if facts >> self._layout.disagrees & isr:
            broken |= STRONG
        return broken, nexts

    def labelled(self, state: int) -> Iterator[tuple[LadderMove, int]]:
        groups, _, _ = self._known(state)
        for added, _, labels in groups:
            for move, change in zip(labels, added, strict=True):
                yield move, state + change

    def inside(self, state: int) -> bool:
        return True

    def moves_fired(self) -> dict[str, int]:
        return counts_of(KINDS, self._fired)

    def _known(self, state: int) -> tuple[list[Moves], int, int]:
        """Return the moves out of a state, the facts of it, and the controller's in-sync set."""
        replicas = [state >> shift & MASK for shift in self._shifts]
        record = state >> self._top
        facts, moves, isr, leader, epoch, heard = self._of_controller[record]
        of_replica, alone, following = self._of_replica, self._alone, self._following
        groups = [moves]
        above = record << BITS
        leaders = []
        for replica in replicas:
            own = of_replica[replica]
            facts |= own.facts
            if own.advance.added:
                leaders.append(own)
            group = alone[above | replica]
            if group.added:
                groups.append(group)
        for index, other in self._pairs:
            a, b = replicas[index], replicas[other]
            pair = a << BITS | b
            facts |= self._of_pair[pair]
            group = following[heard[other] | pair]
            if group.added:
                groups.append(group)
            group = following[heard[index] | b << BITS | a]
            if group.added:
                groups.append(group)
        for own in leaders:
            if facts & own.needs == own.needs:
                groups.append(own.advance)
        if leader != NOBODY and (own := of_replica[replicas[leader]]).presumes:
            may = facts >> self._layout.isr[leader]
            may &= self._isr_mask(own.epoch == epoch)
            if may:
                key = (above | replicas[leader]) << 3 * self._layout.each | may
                groups.append(self._isr_changes[key])
        return groups, facts, isr

    def _isr_mask(self, of_this_epoch: bool) -> int:
        """Return a leader's possible ISR changes; `of_this_epoch`: the controller's."""
        if of_this_epoch:
            return self._layout.isr_mask
        return 0 if self.rung.compares_epoch_to_shrink else self._layout.shrink_mask

    # -- what is known of one ---------------------------------------------------------------------

    def _know_controller(self, number: int) -> OfController:
        controller = self._controllers[number]
        leader = controller.leader
        heard = []
        for replica in range(self.constants.replicas):
            announced = tuple(
                (epoch, isr)
                for epoch, (named, isr) in enumerate(controller.changes)
                if named == replica
            )
            heard.append(self._numbers.announced_number(announced) << 2 * BITS)
        return OfController(
            broken=invariants.of_controller(controller),
            moves=moves_of(KINDS, self._controller_moves(controller)),
            isr=controller.isr,
            leader=leader,
            epoch=controller.epoch,
            heard=tuple(heard),
        )

    def _controller_moves(self, controller: AbstractController) -> list[tuple[LadderMove, int]]:
        if len(controller.changes) > self.constants.epochs:
            return []
        return [
            (LadderMove(name, (who,)), self._record_change(controller, new))
            for name, who, new in steps.of_controller(controller)
        ]

    def _know_replica(self, number: int) -> OfReplica:
        replica = self._replicas[number]
        me = replica.me
        facts = invariants.of_replica(replica)
        if invariants.disagrees(replica, replica):
            facts |= 1 << self._layout.disagrees + me
        if replica.presumes and self.rung.advance(replica, replica):
            facts |= 1 << self._layout.allows[me] + me
        advance = NOTHING
        if replica.presumes and replica.hw < self.constants.log:
            change = self._change(replica, steps.advances(replica))
            advance = moves_of(KINDS, [(LadderMove("advances-hw", (me,)), change)])
        return OfReplica(
            facts=facts,
            presumes=replica.presumes,
            epoch=replica.epoch,
            needs=replica.isr << self._layout.allows[me],
            advance=advance,
        )

    def _moves_alone(self, key: int) -> Moves:
        """Return becomes-leader and writes, for a controller's record and a replica."""
        controller, replica = self._controllers[key >> BITS], self._replicas[key & MASK]
        me = replica.me
        moves = []
        for epoch, (named, isr) in enumerate(controller.changes):
            if named == me and epoch > replica.epoch:
                new = steps.hears_it_leads(replica, epoch, isr)
                moves.append(
                    (LadderMove("becomes-leader", (me, epoch)), self._change(replica, new))
                )
        record = controller.next_record
        size = self.constants
        if replica.presumes and record < size.records and replica.end < size.log:
            new = steps.writes(replica, record)
            written = controller._replace(next_record=record + 1)
            change = self._change(replica, new) + self._record_change(controller, written)
            moves.append((LadderMove("writes", (me,)), change))
        return moves_of(KINDS, moves)

    # -- what is known of two ---------------------------------------------------------------------

    def _facts_of_pair(self, pair: int) -> int:
        """Return the facts of two different replicas, each looked at as the other's leader."""
        a, b = self._replicas[pair >> BITS], self._replicas[pair & MASK]
        return invariants.of_pair(a, b) | self._facts_of_leader(a, b) | self._facts_of_leader(b, a)

    def _facts_of_leader(self, leader: AbstractReplica, other: AbstractReplica) -> int:
        if not leader.presumes:
            return 0
        layout, rung, n = self._layout, self.rung, self._layout.each
        own, o = leader.me, other.me
        facts = 0
        if invariants.disagrees(leader, other):
            facts |= 1 << layout.disagrees + o
        if rung.advance(leader, other):
            facts |= 1 << layout.allows[own] + o
        if leader.isr >> o & 1:
            for way in range(rung.shrink(leader, other)):
                facts |= 1 << layout.isr[own] + way * n + o
        elif rung.expand(leader, other):
            facts |= 1 << layout.isr[own] + 2 * n + o
        return facts

    def _moves_of_follower(self, key: int) -> Moves:
        """Return becomes-follower, fetches and truncates of a replica and its leader."""
        announced = self._numbers.announced[key >> 2 * BITS]
        follower, leader = self._replicas[key >> BITS & MASK], self._replicas[key & MASK]
        me, own = follower.me, leader.me
        moves = []
        for epoch, isr in announced:
            if epoch > follower.epoch:
                for new in steps.hears_it_follows(self.rung, leader, follower, epoch, isr):
                    move = LadderMove("becomes-follower", (me, own, epoch))
                    moves.append((move, self._change(follower, new)))
        with_next = steps.fetches(self.rung, leader, follower)
        if with_next is not None and with_next.end <= self.constants.log:
            moves.append((LadderMove("fetches", (me, own)), self._change(follower, with_next)))
        if self.rung.truncates_later and rules.diverges(leader, follower):
            for log, hw in rules.cut_to(follower, rules.matching_end(leader, follower)):
                new = follower._replace(log=log, hw=hw)
                moves.append((LadderMove("truncates", (me, own)), self._change(follower, new)))
        return moves_of(KINDS, moves)

    def _moves_of_isr(self, key: int) -> Moves:
        """Return leader-shrinks-isr and leader-expands-isr, for a record and a leader."""
        n = self._layout.each
        may, rest = key & self._layout.isr_mask, key >> 3 * n
        controller, leader = self._controllers[rest >> BITS], self._replicas[rest & MASK]
        moves = []
        for place in members(may):
            way, other = divmod(place, n)
            isr = leader.isr ^ 1 << other
            name = "leader-expands-isr" if way == 2 else "leader-shrinks-isr"
            change = self._change(leader, leader._replace(isr=isr))
            change += self._record_change(controller, controller._replace(isr=isr))
            moves.append((LadderMove(name, (leader.me, other)), change))
        return moves_of(KINDS, moves)
