"""Every prompt that is put to a model, each with its version.

Changing a text means changing its version and the version of the tasks that use it: scores under
two wordings are two measurements.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prompt:
    """A template and its version; ``fill`` puts the item's words into it."""

    version: str
    template: str

    def fill(self, **words: str) -> str:
        """The prompt for one item. Braces inside ``words`` are left as they are."""
        return self.template.format(**words)


YES_NO = Prompt(
    version="yes_no-1",
    template=(
        'The term "{term}" is used in this context: "{context}". '
        "Does the picture show the term in the meaning that the context gives it? "
        "Answer with one word, Yes or No."
    ),
)

SCALAR = Prompt(
    version="scalar-1",
    template=(
        'The term "{term}" is used in this context: "{context}". '
        "How well does the picture show the term in the meaning that the context gives it? "
        "Answer with one whole number from 0 (not at all) to 100 (perfectly)."
    ),
)

CHOICE = Prompt(
    version="choice-1",
    template=(
        "The ten pictures are labelled A to J in the order in which they are shown. "
        'The term "{term}" is used in this context: "{context}". '
        "Which picture shows the term in the meaning that the context gives it? "
        "Answer with one letter."
    ),
)
