"""The JSON Schemas, and the one place that validates documents against them."""
