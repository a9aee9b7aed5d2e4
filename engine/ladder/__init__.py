"""The ladder: one partition in the abstract, a rung for each generation of Kafka's truncation and
fencing rules, and the exhaustive search that counts everything it can do.

The state spaces are small enough to be known exactly, so equal counts prove the search.
"""
