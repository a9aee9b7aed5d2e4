"""``python3 -m tests.conformance PATHS``: check the engine against facts about Kafka.

PATHS are case files, or directories of them.  Exit code 0 only if every case was played and the
engine agrees with it; `--json` prints one object instead of lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from engine.model.errors import InputError
from tests.conformance.adapter import Fields
from tests.conformance.runner import run_paths


def lines(result: Fields) -> Iterator[str]:
    for case in result["failed"]:
        yield f"failed  {case['id']} ({case['area']})"
        yield f"    expected {case['expected']}"
        yield f"    got      {case['got']}"
    for case in result["skipped"]:
        yield f"skipped {case['id']}: {case['why']}"
    yield (
        f"{result['passed']} of {result['total']} cases agree, "
        f"{len(result['failed'])} failed, {len(result['skipped'])} skipped"
    )


def main(arguments: list[str]) -> int:
    """Print the result; return 0 if all agree, 1 if not, 2 for what holds no cases."""
    paths = [one for one in arguments if one != "--json"]
    if not paths or any(one.startswith("-") for one in paths):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        result = run_paths(paths)
    except InputError as refusal:
        print(refusal, file=sys.stderr)
        return 2
    if "--json" in arguments:
        print(json.dumps(result, ensure_ascii=False, indent=1))
    else:
        print("\n".join(lines(result)))
    return 1 if result["failed"] or result["skipped"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
