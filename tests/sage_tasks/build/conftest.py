"""The fixtures of this folder, which the tests of the pages use too."""

from tests.sage_tasks.build.fixtures import (
    picture,
    verse_options,
    verse_source,
    vwsd_source,
    wikidiverse_source,
)

__all__ = ["picture", "verse_options", "verse_source", "vwsd_source", "wikidiverse_source"]
