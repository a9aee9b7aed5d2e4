"""Worker processes of the server: with limits of their own, and ended at any moment."""
