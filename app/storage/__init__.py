"""The database: tables, schema changes, what is kept by digest, and the disk it takes."""
