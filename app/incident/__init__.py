"""`highwater incident`: what happened to a partition, from the files that brokers leave behind.

sources: the kind and the owner of each file; lines and dumps: the event of one line of text.
timeline: everything about one partition in one order, by clocks that are bounded (clocks). facts:
where logs ended and what was committed, at each change of leader. rebuilding: a run of the
playground in which the same happens, as far as the model can follow. telling: both, as text.

Files are read once from their beginning to their end, in memory that does not grow with them.
"""
