from typing import Any


def run_chunk(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    raise NotImplementedError
