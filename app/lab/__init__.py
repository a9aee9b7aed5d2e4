"""`highwater lab`: a run of the playground, played on real brokers of this machine.

Only the command line comes here; nothing of it is imported by what serves the web.

releases, jars, processes, cluster: one release, its jars, what runs, and a cluster of it.
links, proxy, client, disk: what stands between brokers, what asks them and reads their disks.
facts, moves, playing, recording, table: what is so after each move, what is
kept and said of it.
"""
