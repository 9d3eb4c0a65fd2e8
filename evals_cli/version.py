"""The version of the distribution, as one literal.

It is a literal so that `evals --version` reads no package metadata; a test proves that pyproject.toml
names the same version.
"""

from __future__ import annotations

VERSION = "0.1.0"
