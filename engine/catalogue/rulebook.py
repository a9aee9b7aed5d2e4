"""Names of the specification's rules: how they are cited, and what a release calls them."""

from __future__ import annotations

import re
from typing import Final

from engine.model.profiles import Profile
from engine.story.rules import BESIDE, RULEBOOK

IDENTIFIER: Final = re.compile(
    r"(?<![\w-])(?:CP-[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*|[CDEFGHLPQRSTX]-\d+)(?![\w-])"
)
"""A citation; what follows the dot (S-2.4) is a sub-step and belongs to the rule."""

FORMER: Final = {
    "CP-ALTER": ("alter_partition", "CP-ALTER.direct", "The leader writes the ISR itself"),
}
"""Rule -> (flag, name, title): what it is called by where a release lacks the flag."""


def title_of(rule: str) -> str:
    """Return the title of a rule, or of a group of cues beside the rules."""
    return (RULEBOOK.get(rule) or BESIDE[rule]).title


def name_and_title(rule: str, profile: Profile) -> tuple[str, str]:
    """Return (name, title) of a rule in a profile."""
    flag, name, title = FORMER.get(rule, ("", rule, ""))
    if flag and not getattr(profile, flag):
        return name, title
    return rule, title_of(rule)
