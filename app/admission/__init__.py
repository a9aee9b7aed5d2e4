"""Five mechanisms that may refuse a request before it is answered, each a module.

- `bodies`: a body is read whole, within a size and a time; of an address few bytes at once.
- `connections`: live connections of an address, and what may come over each (`websocket_meter`).
- `rates`: how often a client may ask, save, check or try.
- `cpu_quota`: the processor time of an address, and of one piece of work while a client waits.
- `queue`: how many threads work at once, how many wait, and how long.

`deadlines` and `client_disconnect` refuse nothing: they end a read, and see that a client has gone.
"""
