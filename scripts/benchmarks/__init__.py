"""Measurements of this project against yardsticks; `scripts/bench` runs them."""

from __future__ import annotations
