"""Real servers for the demo and the tests: PostgreSQL, Kafka, Connect, a registry and Spark, each as a process."""
