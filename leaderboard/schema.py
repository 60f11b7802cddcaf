"""What a submission is: a header and one record per item, nothing else.

On the wire and in files it is JSON Lines: the first line is the header, every other line an item.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from leaderboard.catalog import Name
from sage_tasks.records import CANDIDATES
from wordsight.errors import WordsightError

SCHEMA = "wordsight-submission/1"

MAX_RESPONSE_CHARACTERS = 65_536
MAX_ENTRIES = 64


class SubmissionError(WordsightError):
    """A submission that the board refuses; the message names file, line and field.

    What does not print is escaped: messages quote the submission, and go to terminals and pages.
    """

    def __init__(self, message: str) -> None:
        super().__init__(
            "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        )


def _plain(value: Any) -> Any:
    """Text after NFKC, refused when it holds characters that do not show or turn the line round."""
    if not isinstance(value, str):
        return value
    text = unicodedata.normalize("NFKC", value)
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            raise ValueError(f"holds the unprintable character U+{ord(character):04X}")
    return text


PlainText = Annotated[str, BeforeValidator(_plain)]

NAME_RULE = (
    "a model's name holds letters and digits of ASCII, '.', '_' and '-', begins with a letter, a "
    "digit or '_', may be ORGANISATION/NAME, and has at most 120 characters"
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?")


def is_name(value: str) -> bool:
    """Whether a model can have this name on a board."""
    return len(value) <= 120 and _NAME.fullmatch(value) is not None


def _named(value: str) -> str:
    if not is_name(value):
        raise ValueError(NAME_RULE)
    return value


ModelName = Annotated[str, BeforeValidator(_plain), AfterValidator(_named)]
Word = Annotated[
    str,
    BeforeValidator(_plain),
    StringConstraints(pattern=r"^[A-Za-z0-9_.+@:/=-]*$", max_length=120),
]
Short = Annotated[str, BeforeValidator(_plain), StringConstraints(max_length=300)]
Long = Annotated[str, BeforeValidator(_plain), StringConstraints(max_length=4000)]
Key = Annotated[
    str, BeforeValidator(_plain), StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$", max_length=80)
]
ShortMap = Annotated[dict[Key, Short], Field(max_length=MAX_ENTRIES)]
# of a query (20 hex digits), or of a setting ("natural__hot_dog__bicycle__0.3")
AnyItemId = Annotated[
    str,
    StringConstraints(
        pattern=r"^([0-9a-f]{20}|[A-Za-z0-9][A-Za-z0-9_.-]*__[A-Za-z0-9_.-]+)$", max_length=300
    ),
]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,20}$")]
Amount = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]

_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)


class TaskRun(BaseModel):
    """How one task was run."""

    model_config = _STRICT

    name: Name
    version: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,20}$")] = "1"
    prompt: Word = ""
    dataset: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{16,64})?$")] = ""


class Header(BaseModel):
    """Who answered and how; all of it is the submitter's word and shown as such.

    model : ``organisation/name`` or a bare name.
    method : "direct" for a model asked as it is, "gar", "symbal", ...
    options : what else sets this entry apart ("text": "gloss").
    cost : US dollars; ``wall_seconds`` : seconds of the whole run.
    """

    model_config = _STRICT

    schema_: Literal["wordsight-submission/1"] = Field(alias="schema")
    model: ModelName
    revision: Word = ""
    method: Word = "direct"
    base: ModelName | Literal[""] = ""
    options: ShortMap = {}
    tasks: Annotated[list[TaskRun], Field(min_length=1, max_length=MAX_ENTRIES)]
    source: Literal["lmms-eval", "wordsight", "import"] = "lmms-eval"
    command: Long = ""
    git: Short = ""
    packages: ShortMap = {}
    hardware: ShortMap = {}
    seeds: ShortMap = {}
    wall_seconds: Amount | None = None
    cost: Amount | None = None
    contact: Short = ""

    @field_validator("tasks")
    @classmethod
    def _once(cls, tasks: list[TaskRun]) -> list[TaskRun]:
        names = [task.name for task in tasks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"task named twice: {', '.join(twice)}")
        return tasks

    @property
    def label(self) -> str:
        """What the board calls this entry: model, method unless direct, options."""
        # a method that runs without a model of its own has its name for a model's
        extra = [] if self.method in ("direct", self.model) else [self.method]
        extra += [f"{key}={value}" for key, value in sorted(self.options.items())]
        return f"{self.model} ({', '.join(extra)})" if extra else self.model

    @property
    def identity(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        """Submissions with the same identity are attempts at one public entry."""
        return self.model, self.revision, self.method, tuple(sorted(self.options.items()))

    @property
    def entry(self) -> str:
        """Id of the public entry that this is an attempt at (12 hex digits)."""
        return hashlib.sha256(json.dumps(self.identity).encode()).hexdigest()[:12]


class Item(BaseModel):
    """One item's raw responses: ten in candidate order, or one where the item is a setting.

    images : fingerprint of its ten pictures; may be left out where the header names the dataset.
    """

    model_config = _STRICT

    task: Name
    item: AnyItemId
    images: Fingerprint | Literal[""] = ""
    responses: Annotated[
        list[Annotated[str, StringConstraints(max_length=MAX_RESPONSE_CHARACTERS)]],
        Field(min_length=1, max_length=CANDIDATES),
    ]

    @model_validator(mode="after")
    def _one_each(self) -> Item:
        expected = 1 if "__" in self.item else CANDIDATES
        if len(self.responses) != expected:
            raise ValueError(
                f"responses: {len(self.responses)} stand here; an item of this form has {expected}"
            )
        return self

    @model_validator(mode="after")
    def _encodable(self) -> Item:
        for position, response in enumerate(self.responses):
            # a lone surrogate is legal in JSON but has no UTF-8 form and so cannot be stored
            if not response.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in response):
                raise ValueError(f"response {position} holds half a surrogate pair")
        return self
