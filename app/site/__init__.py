"""Builder of a static site: the playground as a folder of files for any host."""
