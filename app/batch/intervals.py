"""Intervals that hold as often as they say: each rule once, over numbers or arrays of them.

Every page, table and command takes its ends from here, and `python3 -m tests.coverage` plays these
very functions on known truths.  Shares are numbers from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

ALPHA: Final = 0.05
"""How often an interval may miss."""
PRIOR: Final = 0.5
"""Of the mixture behind the confidence sequence: Jeffreys', which favours shares near 0 and 1."""
HALVINGS: Final = 60
LONGEST: Final = 10**12

Numbers = Any
"""A number, or a numpy array of them: the ends have the same shape."""


@dataclass(frozen=True)
class Look:
    """Number of simultaneous and repeated looks at a count.

    It is one of `at_once` intervals that shall all hold together, and the `growing`-th look at a
    study without a fixed end (0: its size was fixed before it began).
    """

    at_once: int = 1
    growing: int = 0

    @property
    def alpha(self) -> float:
        """Bonferroni: each of `at_once` intervals may miss that many times less often."""
        return ALPHA / max(1, self.at_once)

    @property
    def alpha_of_look(self) -> float:
        """Error probability of this look, where no confidence sequence is known.

        alpha / (k (k + 1)), of which all looks together spend alpha.
        """
        return self.alpha / (self.growing * (self.growing + 1) if self.growing else 1)


ONCE: Final = Look()


def exact(hits: Numbers, n: Numbers, alpha: float = ALPHA) -> tuple[Numbers, Numbers]:
    """Return Clopper and Pearson's interval of `hits` in `n` runs: it misses at most alpha."""
    import numpy as np
    from scipy import special  # slow to import, and no start needs it

    hits, n = np.asarray(hits, float), np.asarray(n, float)
    missed = n - hits
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, special.betaincinv(hits, missed + 1, alpha / 2), 0.0)
        high = np.where(missed > 0, special.betaincinv(hits + 1, missed, 1 - alpha / 2), 1.0)
    return low, high


def growing(hits: Numbers, n: Numbers, alpha: float = ALPHA) -> tuple[Numbers, Numbers]:
    """Return an interval of a confidence sequence (Robbins' mixture, Ville's inequality).

    However often a growing study is looked at, and whenever it stops, all these intervals together
    miss no more than alpha.

    A share p stands as long as the mixture of all shares explains what was seen less than 1/alpha
    times as well as p does.
    """
    import numpy as np
    from scipy import special  # slow to import, and no start needs it

    hits, n = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    missed = n - hits
    mixed = special.betaln(PRIOR + hits, PRIOR + missed) - special.betaln(PRIOR, PRIOR)
    share = np.divide(hits, n, out=np.full(hits.shape, 0.5), where=n > 0)

    def stands(p: Numbers) -> Numbers:
        alone = special.xlogy(hits, p) + special.xlog1py(missed, -p)
        return mixed - alone <= -np.log(alpha)

    low = _edge(stands, np.zeros_like(share), share)
    high = _edge(stands, np.ones_like(share), share)
    return np.where(hits > 0, low, 0.0), np.where(missed > 0, high, 1.0)


def _edge(stands: Callable[[Numbers], Numbers], out: Numbers, inside: Numbers) -> Numbers:
    """Return the end of an interval, between a point outside and one inside of it."""
    import numpy as np

    for _ in range(HALVINGS):
        middle = (out + inside) / 2
        held = stands(middle)
        out, inside = np.where(held, out, middle), np.where(held, middle, inside)
    return out


def weighed(
    total: Numbers, squares: Numbers, heaviest: Numbers, alpha: float = ALPHA
) -> tuple[Numbers, Numbers]:
    """Return the interval of a sum of weights.

    `total` is the sum of the weights seen, `squares` that of their squares; one more, that was not
    seen, weighs `heaviest` at most.

    Fay and Feuer's (1997), made for sums of Poisson counts with weights: with equal weights it is
    the exact interval of a Poisson count.  Its upper end counts one more of the heaviest, so that
    many light ones do not hide a heavy one that was not met.
    """
    import numpy as np
    from scipy import special  # slow to import, and no start needs it

    total, squares, heaviest = (np.asarray(values, float) for values in (total, squares, heaviest))
    seen = (total > 0) & (squares > 0)
    y, v = np.where(seen, total, 1.0), np.where(seen, squares, 1.0)
    low = np.where(seen, v / y * special.gammaincinv(y * y / v, alpha / 2), 0.0)
    more, spread = total + heaviest, squares + heaviest * heaviest
    some = (more > 0) & (spread > 0)
    y, v = np.where(some, more, 1.0), np.where(some, spread, 1.0)
    high = np.where(some, v / y * special.gammaincinv(y * y / v, 1 - alpha / 2), 0.0)
    return np.minimum(low, total), np.maximum(high, total)


def runs_needed(share: float, within: float) -> int:
    """Return the runs after which the exact interval of a share is narrow enough.

    It then reaches at most `within` of the share to either side; LONGEST where that is more than
    can be played.

    Raises ValueError unless 0 < share <= 1 and within > 0.
    """
    if not 0 < share <= 1 or within <= 0:
        raise ValueError(f"share {share} within {within}")
    few, many = 0, 1
    while not _near(share, many, within):
        few, many = many, 2 * many
        if many > LONGEST:
            return LONGEST
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if _near(share, middle, within) else (middle, many)
    return many


def _near(share: float, n: int, within: float) -> bool:
    low, high = exact(share * n, n)
    return is_within(share, float(low), float(high), within)


def is_within(share: float, low: float, high: float, within: float) -> bool:
    """Check whether an interval reaches at most this part of its share to either side."""
    return share > 0 and max(high - share, share - low) <= within * share


def knowable(n: int, share: float, alpha: float = ALPHA) -> bool:
    """Check whether n runs can bound such a percentile from both sides.

    Not where all of them may well lie on one side of it: share^n and (1 - share)^n are what is left
    to miss.
    """
    return max(share, 1 - share) ** n <= alpha / 2
