"""`highwater lab`: a run of the playground, played on real brokers of this machine.

Only the command line imports it; the web server never does.

releases, jars, processes, cluster: one release, its jars, its processes, and a cluster of it.
links, proxy, client, disk: the network between brokers, requests to them, and their disks. facts,
moves, playing, recording, table: facts after each move, the recording and its table.  groups,
member_moves, GroupClient.java: consumer groups and their members.
"""
