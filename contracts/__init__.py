"""The shared contract catalog, as data."""
