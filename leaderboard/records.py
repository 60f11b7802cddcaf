"""What the board shows, as records: one schema for pages, API, commands and exports."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

_FROZEN = ConfigDict(frozen=True)


class Estimate(BaseModel):
    """A mean with its 95% interval; ``method`` says how the interval was made."""

    model_config = _FROZEN

    value: float
    low: float
    high: float
    method: str


class Group(BaseModel):
    """One entry on a part of a task: settings of one strength, size of feature or sampling kind."""

    model_config = _FROZEN

    family: str
    group: str
    items: int
    scores: dict[str, Estimate]


class Cell(BaseModel):
    """One entry on one task. Missing and invalid items count as 0 in every mean.

    scores : measure -> estimate, without the measures that the interface does not have.
    bca : the same with BCa limits, where the usual ones are percentiles of a bootstrap.
    by_term : the first measure with whole terms resampled, which is wider where items of one term
        succeed and fail together; None where every item has a term of its own.
    other_pictures : items answered on other copies of the pictures than the board's.
    """

    model_config = _FROZEN

    scores: dict[str, Estimate]
    bca: dict[str, Estimate] = Field(default_factory=dict)
    by_term: Estimate | None = None
    items: int
    missing: int
    invalid: int
    other_pictures: int = 0
    interface: str
    submission: str
    groups: list[Group] = Field(default_factory=list)

    @property
    def missing_rate(self) -> float:
        """Share of items without an answer."""
        return self.missing / self.items

    @property
    def invalid_rate(self) -> float:
        """Share of items with an answer that cannot be read."""
        return self.invalid / self.items


class Comparison(BaseModel):
    """An entry against another on the same items; difference = this one minus the other.

    The family of both corrections is all entries tested against the same other. ``p_adjusted`` is
    Holm's, for claims; ``p_screening`` is Benjamini and Hochberg's, for looking around.
    """

    model_config = _FROZEN

    other: str
    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float
    p_screening: float
    method: str


class Row(BaseModel):
    """One public entry of a track.

    scores : over all ranked tasks (macro average where there are several); empty unless the entry
        has every one of them. bca : as in a cell; a macro average has none.
    notes : how many items are missing, unreadable, ... remarks : on its attempts: where not the
        newest counts, where a difference joins two.
    rank : best and worst rank that the data allow at 95%. submitted : UTC.
    contact : whom to ask. cost : of the run, in US dollars. Both as the submitter gave them.
    """

    model_config = _FROZEN

    entry: str
    label: str
    model: str
    method: str
    revision: str
    options: dict[str, str]
    interface: str
    cells: dict[str, Cell]
    scores: dict[str, Estimate] = Field(default_factory=dict)
    bca: dict[str, Estimate] = Field(default_factory=dict)
    rank: tuple[int, int] | None = None
    deltas: dict[str, Comparison] = Field(default_factory=dict)
    versus_best: Comparison | None = None
    versus_base: Comparison | None = None
    attempts: int
    submitted: str
    verified: bool
    source: str
    command: str
    contact: str
    cost: float | None
    wall_seconds: float | None
    notes: list[str] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)

    @property
    def told(self) -> list[str]:
        """All that must be read with the row."""
        return [*self.notes, *self.remarks]


class MeasureInfo(BaseModel):
    """A measure of a track: key of the scores, heading, and what it is."""

    model_config = _FROZEN

    name: str
    label: str
    text: str


class TaskInfo(BaseModel):
    """A task as a column of a track, with the dataset build that it is scored against.

    detectable : the smallest difference in the first measure that these items could show between a
    typical pair of the entries in 80 of 100 cases; None with fewer than two entries.
    """

    model_config = _FROZEN

    name: str
    label: str
    kind: str
    version: str
    items: int
    dataset: str
    variant: bool
    detectable: float | None = None


class TaskAgreement(BaseModel):
    """Kendall's tau-b between the orders that two tasks give the entries, by the first measure."""

    model_config = _FROZEN

    first: str
    second: str
    tau: float
    low: float
    high: float
    p: float


class TrackBoard(BaseModel):
    """One table, in the one order of :func:`leaderboard.order.by_rank`.

    measures : the first is what entries are ranked and tested by. chance : what guessing gets.
    printed, printed_group : which published tables, and which of their rows, stand beside it.
    pairs : difference -> the task it is taken from and the task that is subtracted.
    """

    model_config = _FROZEN

    name: str
    label: str
    measures: list[MeasureInfo]
    chance: float | None = None
    printed: str = ""
    printed_group: str = ""
    tasks: list[TaskInfo]
    deltas: list[str] = Field(default_factory=list)
    pairs: dict[str, tuple[str, str]] = Field(default_factory=dict)
    best: str = ""
    agreements: list[TaskAgreement] = Field(default_factory=list)
    rows: list[Row]

    @property
    def first(self) -> MeasureInfo:
        """What entries are ranked by."""
        return self.measures[0]

    @property
    def ranked(self) -> list[TaskInfo]:
        """The tasks that enter the ranking."""
        return [task for task in self.tasks if not task.variant]


class Withdrawal(BaseModel):
    """A submission that was taken back; its reason stays visible."""

    model_config = _FROZEN

    submission: str
    label: str
    reason: str


class Archived(BaseModel):
    """Answers to a task version that is no longer scored: kept, shown here, in no table."""

    model_config = _FROZEN

    submission: str
    label: str
    task: str
    version: str


class Board(BaseModel):
    """All tables. Everything follows from ``commit`` (last ledger hash), datasets and ``seed``."""

    model_config = _FROZEN

    title: str
    commit: str
    seed: int
    base: str = ""
    tracks: list[TrackBoard]
    withdrawn: list[Withdrawal] = Field(default_factory=list)
    archived: list[Archived] = Field(default_factory=list)


class TaskReport(BaseModel):
    """What was found in one task of an accepted submission.

    items : in the submission; total : in the task. missing : without an answer, which a failed
    request counts as too. invalid : with an answer that cannot be read.
    """

    model_config = _FROZEN

    task: str
    items: int
    total: int
    missing: int
    invalid: int
    other_pictures: int


class Receipt(BaseModel):
    """What a submitter gets back.

    number : the ledger line; 0 where no ledger has it yet. head : hash of the ledger's last line,
        to be kept: ``wordsight ledger verify --head`` tells later whether that is still there.
    notes : what else the submitter should know, in words.
    """

    model_config = _FROZEN

    submission: str
    entry: str
    label: str
    state: str
    number: int = 0
    head: str = ""
    attempts: int = 0
    new: bool = True
    tasks: list[TaskReport] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
