"""Settings: every one is an environment variable ``HIGHWATER_*`` and a row of ``SETTINGS``."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""The folder of `app`, `engine`, `static` and `templates`: a checkout, or `highwater` installed."""

PREFIX = "HIGHWATER_"


SPARE_THREADS = 24
"""Threads that live connections leave to everything else."""
HANDS = 16
"""Requests of one address at a time beside its live connections: browsers ask six at a time."""


class SettingError(Exception):
    """A setting that cannot be used; the text is one sentence naming the variable."""


@dataclass(frozen=True)
class ServerSetting:
    """One row of the table of settings.

    The field of `Settings` it fills, its default, what it means, how it is read, and a variable of
    another project that says the same where ours says nothing.
    """

    field: str
    default: str
    meaning: str
    read: Callable[[str], Any] = str
    beside: str = ""

    @property
    def name(self) -> str:
        return PREFIX + self.field.upper()


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high} is needed")
        return value

    return read


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1_000_000:
        raise ValueError("a number above 0 is needed")
    return value


LEVELS = ("off", "fatal", "error", "warn", "info", "debug")


def _level(text: str) -> str:
    if text.lower() not in LEVELS:
        raise ValueError("one of " + ", ".join(LEVELS) + " is needed")
    return text.lower()


SETTINGS: tuple[ServerSetting, ...] = (
    ServerSetting(
        "database_url", "", "SQLAlchemy address; default: SQLite in instance/highwater.db"
    ),
    ServerSetting(
        "instance",
        "",
        "directory for the database, studies and the signing key; default: instance of a checkout, "
        "else highwater in the user's data folder, as $XDG_DATA_HOME or ~/.local/share",
    ),
    ServerSetting(
        "secret_key", "", "key that signs cookies; default: one generated in the instance directory"
    ),
    ServerSetting("host", "127.0.0.1", "address to listen on"),
    ServerSetting("port", "8000", "port to listen on", _whole(0, 65535)),
    ServerSetting("proxies", "0", "trusted proxies in front (X-Forwarded-For)", _whole(0, 10)),
    ServerSetting("threads", "280", "worker threads: live connections plus 24", _whole(32, 10_000)),
    ServerSetting("sockets_per_address", "8", "live connections per address", _whole(1, 100_000)),
    ServerSetting("moves_per_s", "20", "socket requests per second and connection", _rate),
    ServerSetting("moves_burst", "40", "burst size of the setting above", _whole(1, 100_000)),
    ServerSetting("opens_per_s", "2", "runs opened per second and connection", _rate),
    ServerSetting("opens_burst", "8", "burst size of the setting above", _whole(1, 100_000)),
    ServerSetting("saves_per_s", "2", "runs or scenarios saved per second and address", _rate),
    ServerSetting("saves_burst", "20", "burst size of the setting above", _whole(1, 100_000)),
    ServerSetting("live_runs", "200", "maximum number of replays in memory", _whole(1, 100_000)),
    ServerSetting("live_mib", "512", "memory limit of all replays, MiB", _whole(1, 2**30)),
    ServerSetting("known_runs", "20000", "maximum number of unsaved runs kept", _whole(1, 10**8)),
    ServerSetting(
        "builders",
        "2",
        "runs that may be replayed from their start at the same time",
        _whole(1, 256),
    ),
    ServerSetting("cpu_ms_per_s", "500", "CPU milliseconds per second and address", _rate),
    ServerSetting(
        "cpu_burst_ms", "20000", "burst size of the CPU quota, milliseconds", _whole(1, 10**9)
    ),
    ServerSetting("build_cpu_s", "10", "CPU seconds that playing a run may take", _rate),
    ServerSetting(
        "build_mib", "1024", "memory that playing a run may take, MiB", _whole(256, 2**20)
    ),
    ServerSetting(
        "saved_kib_per_day", "8192", "KiB that an address may save per day", _whole(64, 2**40)
    ),
    ServerSetting(
        "saved_mib", "4096", "MiB that all saved runs and scenarios may take", _whole(1, 2**40)
    ),
    ServerSetting("batches_per_address", "12", "unfinished batches per address", _whole(1, 10**6)),
    ServerSetting("gallery", "0", "1: list the studies of all visitors on /batch", _whole(0, 1)),
    ServerSetting(
        "rows_mib", "20480", "MiB that the rows of all batches may take", _whole(1, 2**40)
    ),
    ServerSetting(
        "metrics_token",
        "",
        "bearer token for /metrics; without one, /metrics answers localhost only",
    ),
    ServerSetting(
        "transports", "websocket", "transports of the socket: websocket, or websocket,polling"
    ),
    ServerSetting(
        "spark_master",
        "",
        "Spark for batches: a master, or sc://host:port; default: SPARK_REMOTE, or local[*]",
        beside="SPARK_REMOTE",
    ),
    ServerSetting(
        "spark_conf", "", "further Spark settings: spark.name=value, separated by spaces"
    ),
    ServerSetting("spark_log", "fatal", "level of Spark's own log: " + ", ".join(LEVELS), _level),
    ServerSetting(
        "batch_directory",
        "",
        "directory for rows of batches; a Spark cluster needs one that all workers reach",
    ),
    ServerSetting(
        "background_build",
        "1",
        "0: do not compile the engine in the background, for the next start",
        _whole(0, 1),
    ),
    ServerSetting(
        "guides", "", "directory of additional reading guides, *.yaml, read when the server starts"
    ),
)


@dataclass(frozen=True)
class Settings:
    """Values of `SETTINGS`, read and checked."""

    database_url: str
    instance: Path
    secret_key: str = field(repr=False)
    host: str
    port: int
    proxies: int
    threads: int
    sockets_per_address: int
    moves_per_s: float
    moves_burst: int
    opens_per_s: float
    opens_burst: int
    saves_per_s: float
    saves_burst: int
    live_runs: int
    live_mib: int
    known_runs: int
    builders: int
    cpu_ms_per_s: float
    cpu_burst_ms: int
    build_cpu_s: float
    build_mib: int
    saved_kib_per_day: int
    saved_mib: int
    batches_per_address: int
    gallery: int
    rows_mib: int
    metrics_token: str = field(repr=False)
    transports: str
    spark_master: str
    spark_conf: str
    spark_log: str
    batch_directory: str
    background_build: int
    guides: str

    @property
    def batch_root(self) -> str:
        """The directory of all batches' rows, or its address for PyArrow's file systems."""
        return self.batch_directory or str(self.instance.resolve() / "batches")


def usual_instance(environ: Mapping[str, str]) -> Path:
    """Return the directory of results where no setting names one, the same from every folder."""
    from app.bootstrap import is_checkout  # of which a tab has no need

    if is_checkout():
        return ROOT / "instance"
    if sys.platform == "win32":
        data = environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        data = Path.home() / "Library" / "Application Support"
    else:
        data = environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "highwater"


def load(environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Read the settings; make the instance directory and the signing key where missing.

    Raises `SettingError` with one sentence for a value that does not fit.
    """
    settings = read(environ, **overrides)
    try:
        settings.instance.mkdir(parents=True, exist_ok=True)
        return replace(settings, secret_key=settings.secret_key or _kept_key(settings.instance))
    except OSError as error:
        raise SettingError(
            f"{PREFIX}INSTANCE={settings.instance} cannot be written: {error.strerror}."
        ) from None


def read(environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Return the settings, without a signing key that was not made; nothing is written.

    Raises `SettingError` as `load` does.
    """
    source = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        text = source.get(setting.name, "") or source.get(setting.beside, "") or setting.default
        try:
            values[setting.field] = setting.read(text)
        except ValueError as error:
            raise SettingError(f"{setting.name}={text!r} cannot be used: {error}.") from None
    values.update(overrides)
    values["instance"] = Path(values["instance"] or usual_instance(source))
    if not values["database_url"]:
        values["database_url"] = f"sqlite:///{values['instance'].resolve() / 'highwater.db'}"
    return Settings(**values)


def _kept_key(instance: Path) -> str:
    """Return the signing key of this instance: open pages stay valid after a restart."""
    path = instance / "secret_key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
    except FileExistsError:
        pass
    return path.read_text().strip()


def table() -> str:
    """Return the settings as lines of text, for ``highwater serve --help``."""
    width = max(len(setting.name) for setting in SETTINGS)
    return "\n".join(
        f"{setting.name:<{width}}  {setting.meaning}"
        + (f" [{setting.default}]" if setting.default else "")
        for setting in SETTINGS
    )
