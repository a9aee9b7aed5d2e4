"""Error of work that no other process can take."""


class NoWorkerError(Exception):
    """Error raised where all processes are busy, or there are none."""
