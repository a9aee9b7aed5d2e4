"""Recordings of real brokers, replayed move by move against the engine.

A recording says what a script's moves did to a cluster of some Kafka release: after each move, at
rest, what the controller stored and what every broker's disk held.  `reading` reads the files,
`facts` says the same of a simulation, `player` is the run that the recording tells of, and
`comparing` counts which facts are equal, explained by the recording itself, or different.
"""
