"""The invariants, in modules by what they look at; the folder is the list of them."""
