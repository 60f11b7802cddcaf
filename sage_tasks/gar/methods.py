"""The methods of Table 5 as rankings over the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from sage_tasks.gar.aggregation import Aggregation, aggregate
from sage_tasks.gar.fusion import K, fuse
from sage_tasks.gar.records import AXES, Axis
from sage_tasks.gar.texts import Needs
from sage_tasks.gar.verification import BASE, GENERATED, LEXICAL
from wordsight.errors import WordsightError

# all: ask the questions of every method and rank as gar; what `wordsight ablate` runs.
Method = Literal["base", "generated_def", "lexical_def", "cgr", "gar", "all"]
_HOLISTIC = {"base": BASE, "generated_def": GENERATED, "lexical_def": LEXICAL}


@dataclass(frozen=True)
class Settings:
    """How an item is ranked; a result carries its settings."""

    method: Method = "gar"
    axes: tuple[Axis, ...] = AXES
    aggregation: Aggregation = "mean"
    axis_weights: Mapping[Axis, float] = field(default_factory=dict)
    information: bool = False
    k: int = K

    @property
    def holistic(self) -> tuple[str, ...]:
        """Names of the questions about the whole meaning that the method asks."""
        if self.method == "all":
            return BASE, LEXICAL, GENERATED
        if self.method == "gar":
            return (LEXICAL,)
        return (_HOLISTIC[self.method],) if self.method in _HOLISTIC else ()

    @property
    def asked_axes(self) -> tuple[Axis, ...]:
        """Axes whose constraints are asked; "all" asks every one, whatever is ranked by."""
        if self.method == "all":
            return AXES
        return self.axes if self.method in ("cgr", "gar") else ()

    @property
    def needs(self) -> Needs:
        """The words that the method uses."""
        return Needs(
            lexical=LEXICAL in self.holistic,
            generated=GENERATED in self.holistic,
            constraints=bool(self.asked_axes),
        )


@dataclass(frozen=True)
class Answers:
    """Readable answers of one item.

    keys : what orders candidates under a question (log-odds or similarity), (n_questions, 10).
    probabilities : P(yes), same shape.
    """

    names: tuple[str, ...]
    axes: tuple[Axis | None, ...]
    keys: Sequence[Sequence[float]]
    probabilities: Sequence[Sequence[float]]

    def key_row(self, name: str) -> list[float]:
        """Keys of the question ``name``. Raises WordsightError where it was not asked."""
        if name not in self.names:
            raise WordsightError(
                f"question {name!r} was not asked in this run; run again with method=all"
            )
        return list(self.keys[self.names.index(name)])

    def constraint_scores(self, settings: Settings) -> list[float]:
        """The CGR score of each candidate."""
        chosen = [i for i, axis in enumerate(self.axes) if axis in settings.axes]
        return aggregate(
            [self.probabilities[i] for i in chosen],
            [axis for i in chosen if (axis := self.axes[i]) is not None],
            settings.aggregation,
            settings.axis_weights,
            settings.information,
        )


def ranking(answers: Answers, settings: Settings) -> list[float]:
    """What orders the candidates under a method; larger is better."""
    if settings.method in _HOLISTIC:
        return answers.key_row(_HOLISTIC[settings.method])
    constraints = answers.constraint_scores(settings)
    if settings.method == "cgr":
        return constraints
    return fuse([answers.key_row(LEXICAL), constraints], settings.k)


def parse_axes(text: str) -> tuple[Axis, ...]:
    """Axes from "object+state"; WordsightError names one that does not exist."""
    names = [name.strip() for name in text.split("+") if name.strip()]
    unknown = [name for name in names if name not in AXES]
    if unknown or not names:
        raise WordsightError(
            f"axes={text!r}: choose from {'+'.join(AXES)}"
            + (f", not {unknown[0]!r}" if unknown else "")
        )
    return tuple(axis for axis in AXES if axis in names)


def parse_weights(text: str) -> dict[Axis, float]:
    """Axis weights from "object:2+state:0.5"; axes left out weigh 1."""
    weights: dict[Axis, float] = {}
    for part in text.split("+") if text else []:
        name, _, value = part.partition(":")
        axis = next((axis for axis in AXES if axis == name.strip()), None)
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if axis is None or not 0.0 <= number < float("inf"):
            raise WordsightError(
                f"axis_weights={text!r}: write e.g. object:2+attribute:1+state:0.5"
            )
        weights[axis] = number
    return weights


def checked_method(text: str) -> Method:
    """The method of that name."""
    for method in get_args(Method):
        if method == text:
            return method  # type: ignore[no-any-return]
    raise WordsightError(f"method={text!r}; choose one of {', '.join(get_args(Method))}")


def checked_aggregation(text: str) -> Aggregation:
    """The aggregation of that name."""
    for how in get_args(Aggregation):
        if how == text:
            return how  # type: ignore[no-any-return]
    raise WordsightError(f"aggregation={text!r}; choose one of {', '.join(get_args(Aggregation))}")
