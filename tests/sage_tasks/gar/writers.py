"""Text models for tests: a language model stands outside this package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

DEFINITION = "Number: 1\nDefinition: An animal that flies at night.\nVisible: wings; dark cave"
CHECKS = "object: a furry animal; wings\nattribute: dark\nstate: flying"


class Writer:
    """Writes what a function of the prompt says, and keeps the prompts."""

    def __init__(self, say: Callable[[str], str], name: str = "writer") -> None:
        self._say = say
        self.name = name
        self.prompts: list[str] = []

    def write(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield one text per prompt."""
        for prompt in prompts:
            self.prompts.append(prompt)
            yield self._say(prompt)


def good(prompt: str) -> str:
    """A reply in the asked form to any of the three prompts."""
    if "object: things" in prompt:
        return CHECKS
    return DEFINITION if "Number:" in prompt else DEFINITION.split("\n", 1)[1]
