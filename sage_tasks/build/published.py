"""Figures of the SAGE paper that a build is compared with; nothing is computed from them.

Those of Table 15 stand in :mod:`sage_tasks.lexicons.coverage`.
"""

from __future__ import annotations

# Table 1: items per split.
ITEMS = {
    "vwsd": {"train": 12_869, "test": 463},
    "verse": {"train": 1_042, "test": 1_264},
    "wikidiverse": {"train": 10_750, "validation": 1_288, "test": 1_243},
}
# Table 14: mean number of negatives per query.
NEGATIVES = {
    "verse": {"hard": 0.85, "random": 8.15},
    "wikidiverse": {"hard": 4.55, "random": 4.45},
}
# Table 10: part of speech of the targets of the VWSD test split.
VWSD_TEST_TAGS = {"VERB": 12, "NOUN": 392, "PROPN": 54, "OTHER": 5}
