"""Full-text search over scenarios, rules, terms, claims and questions."""
