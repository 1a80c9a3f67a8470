"""Run a fast lane under load, measure how long records take through it, and prove that none is lost or sent twice."""
