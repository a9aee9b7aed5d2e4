"""Kafka's own formats, read and written as bytes: no socket, no file, no state of a cluster.

A laboratory speaks them with real brokers; readers find them in the files that brokers leave
behind.  Names and layouts follow Kafka's message schemas
(`clients/src/main/resources/common/message`, `metadata/src/main/resources/common/metadata`).
"""
