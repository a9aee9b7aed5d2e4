"""Releases of Kafka: the differences in starting each, and the model's profile of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.kafka.versions import numbers_of, profile_of
from app.lab.trouble import LabError
from engine.model.releases import BOTH, ONLY_KRAFT, ONLY_ZK

OLDEST: Final = (0, 10, 2)
TRIED: Final = ("0.10.2.2", "1.1.1", "3.9.1", "4.1.1", "4.4.0")
"""Releases that scripts of the library were played on with this laboratory."""


@dataclass(frozen=True, slots=True)
class KafkaRelease:
    """`numbers` are those that count: (4, 1, 1), and (0, 10, 2) for 0.10.2.2."""

    version: str
    numbers: tuple[int, int, int]

    @property
    def kraft(self) -> bool:
        """True if a KRaft controller is started, not ZooKeeper.  KRaft is ready from 3.3 on."""
        return self.numbers >= (3, 3, 0)

    @property
    def tells_endpoints(self) -> bool:
        """True where a controller sends brokers its endpoints (KIP-853)."""
        return self.numbers >= (3, 9, 0)

    @property
    def epochs(self) -> bool:
        """True where batches carry leader epochs (KIP-101)."""
        return self.numbers >= (0, 11, 0)

    @property
    def has_group_clients(self) -> bool:
        """True where consumers and admin clients have the methods that the laboratory calls."""
        return self.numbers >= (2, 0, 0)

    @property
    def checkpoints_early(self) -> bool:
        """True where a broker can write its log start offsets in its first 30 s, too."""
        return self.numbers >= (3, 8, 0)

    @property
    def scala(self) -> str:
        if self.numbers >= (2, 4, 0):
            return "2.13"
        return "2.12" if self.numbers >= (1, 0, 0) else "2.11"

    @property
    def log4j2(self) -> bool:
        """True for Log4j 2, which came with 4.0 (KIP-653)."""
        return self.numbers >= (4, 0, 0)

    @property
    def profile(self) -> str:
        """The row of the model's table that stands for this release."""
        return profile_of(self.numbers, self.kraft)


def newest_of(line: str) -> str:
    """Return the newest release of a line such as 3.9 or 0.10.2; any other name as it is."""
    known = (*ONLY_ZK, *BOTH, *ONLY_KRAFT)
    of_it = [one for one in known if "." in line and one.startswith(f"{line}.")]
    return of_it[-1] if of_it else line


def release_of(version: str) -> KafkaRelease:
    """Return the release of that name; of a line such as 4.4 its newest.  Raises LabError."""
    version = newest_of(version)
    numbers = numbers_of(version)
    if numbers is None:
        raise LabError(f"“{version[:20]}” is no release of Kafka; they are written like 4.1.1.")
    if numbers < OLDEST:
        raise LabError(
            f"Kafka {version} is older than 0.10.2, the oldest release that the laboratory starts."
        )
    return KafkaRelease(version, numbers)
