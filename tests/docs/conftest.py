"""Fixtures of the parts whose pages are followed here."""

from tests.sage_tasks.build.fixtures import (
    picture,
    verse_options,
    verse_source,
    vwsd_source,
    wikidiverse_source,
)
from tests.symbal_tasks.fixtures import (
    coco_release,
)

__all__ = [
    "coco_release",
    "picture",
    "verse_options",
    "verse_source",
    "vwsd_source",
    "wikidiverse_source",
]
