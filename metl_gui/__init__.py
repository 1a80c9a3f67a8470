"""METL Workbench: map changing microservice schemas to one canonical data model and run the mapping on Spark."""

__version__ = "0.2.0"
