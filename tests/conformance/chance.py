"""The source of chance that cases with exact placements prescribe (`java_lcg17`)."""

from __future__ import annotations


class JavaLcg17:
    """A 64-bit linear congruential source, seed 17, drawn from like java.util.Random."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = 17

    def next(self, bits: int) -> int:
        self.state = (self.state * 2862933555777941757 + 3037000493) % (1 << 64)
        return self.state >> (64 - bits)

    def below(self, limit: int) -> int:
        """Return nextInt(limit): every value equally likely, incomplete rounds drawn again."""
        if limit & (limit - 1) == 0:
            return (limit * self.next(31)) >> 31
        while True:
            drawn = self.next(31)
            value = drawn % limit
            if drawn - value + limit - 1 < 1 << 31:
                return value
