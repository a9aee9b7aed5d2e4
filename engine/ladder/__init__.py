"""The ladder: one partition as a small model, with a rung for each generation of Kafka's rules.

The rules are those of truncation and fencing; an exhaustive search counts everything that the
partition can do.

The state spaces are small enough to be known exactly, so equal counts prove the search.
"""
