"""Cache of compiled templates, so that the first pages after a start need not compile them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket


class TemplateCache(FileSystemBytecodeCache):
    """Code of templates in a folder of ours; what cannot be read or written is compiled again."""

    def __init__(self, folder: Path) -> None:
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        super().__init__(str(folder))

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # of a file that a power failure has cut short, pickle raises any
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):  # a full disk refuses no page
            super().dump_bytecode(bucket)
