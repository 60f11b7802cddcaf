"""The fixtures of this folder, which the tests of the pages use too."""

from tests.symbal_tasks.fixtures import (
    coco_release,
)

__all__ = ["coco_release"]
