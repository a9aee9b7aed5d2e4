"""The server's own storm: the application itself, in a world whose time and faults are drawn."""
