"""Schemas from elsewhere: registries over HTTP (Apicurio, Confluent's API) and the catalogues of databases.

The only package that asks other computers for schemas. Each answer is hostile until read: it has limits of size, time
and number, and what is wrong with it ends in a ``SchemaError`` with a sentence. May import ``registry.schemas``, httpx
and, lazily, psycopg.
"""
