"""Kafka: addresses, clients, what topics hold, reading and writing. Runs in the driver and on executors."""
