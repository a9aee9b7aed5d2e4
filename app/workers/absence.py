"""Error of work that no other process can take."""


class NoWorkerError(Exception):
    """Error raised where there are no worker processes, as in a browser tab."""
