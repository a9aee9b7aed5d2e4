"""Every rule by its identifier, and every step of one by the cue that names it.

Which functions follow a rule is never written down here: their docstrings cite it.  What it does,
and where in Kafka, is in the source map (`engine.catalogue.sourcemap`).
"""

from __future__ import annotations

from typing import Final

from engine.story import rules_clients, rules_control_plane, rules_replication
from engine.story.rule import Rule, RuleStep

_TABLES: Final = (rules_replication.RULES, rules_clients.RULES, rules_control_plane.RULES)

RULEBOOK: Final[dict[str, Rule]] = {rule.id: rule for table in _TABLES for rule in table}
"""Rules of the specification."""

BESIDE: Final[dict[str, Rule]] = {rule.id: rule for rule in rules_control_plane.BESIDE}

RULES: Final[dict[str, RuleStep]] = {
    step.id: step for rule in (*RULEBOOK.values(), *BESIDE.values()) for step in rule.steps
}
"""Cue -> the step that it names."""
