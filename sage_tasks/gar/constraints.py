"""From a definition to yes/no questions about a picture (SAGE, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sage_tasks.gar.asking import Asked, ask_until_read
from sage_tasks.gar.clauses import clauses
from sage_tasks.gar.prompts import CONSTRAINT_QUESTIONS, DECOMPOSE
from sage_tasks.gar.records import AXES, Axis, Constraint, Definition
from sage_tasks.gar.replies import Check, ChecksReply, read_checks
from sage_tasks.gar.text_models import TextModel

MAX_TOKENS = 140
_ANSWER_FORM = " Answer with one word, Yes or No."


def decompose(
    model: TextModel, items: Sequence[tuple[str, Definition]], most: int, attempts: int
) -> list[Asked[tuple[Constraint, ...]]]:
    """Constraints of each (term, definition), at most ``most`` per axis.

    All axes are always asked for, whatever is used later, so that subsets of axes compare the
    same constraints. Where no reply could be read, the definition split at its clauses stands in.
    An axis without a constraint is counted, as
    "no_object", "no_attribute" or "no_state".
    """
    prompts = [
        DECOMPOSE.fill(
            term=term,
            definition=definition.text,
            visible="; ".join(definition.visible) or "not said",
            most=str(most),
        )
        for term, definition in items
    ]
    readers = [_reader(most, definition) for _, definition in items]
    starts = ["object:"] * len(prompts)
    replies = ask_until_read(model, prompts, readers, starts, MAX_TOKENS, attempts)
    return [
        _asked(reply, definition, most)
        for reply, (_, definition) in zip(replies, items, strict=True)
    ]


def constraint(axis: Axis, phrase: str, question: str = "") -> Constraint:
    """A constraint with its question: the model's own where it wrote one, else by a template."""
    asked = question + _ANSWER_FORM if question else CONSTRAINT_QUESTIONS[axis].fill(phrase=phrase)
    return Constraint(axis=axis, phrase=phrase, question=asked)


def _reader(most: int, definition: Definition) -> Callable[[str], ChecksReply | None]:
    def read(text: str) -> ChecksReply | None:
        reply = read_checks(text, most)
        if reply is None:
            return None
        # The definition over again is not a part of it.
        parts = tuple(c for c in reply.checks if _bare(definition.text) not in _bare(c.phrase))
        if not parts:
            return None
        return ChecksReply(parts, reply.repaired or len(parts) < len(reply.checks))

    return read


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def _asked(
    reply: Asked[ChecksReply | None], definition: Definition, most: int
) -> Asked[tuple[Constraint, ...]]:
    faults = dict(reply.faults)
    if reply.value is None:
        split = clauses(definition.text, most)
        checks = tuple(Check(axis, phrase) for axis, phrase in split)
    else:
        checks = reply.value.checks
    present = {check.axis for check in checks}
    faults.update({f"no_{axis}": 1 for axis in AXES if axis not in present})
    made = tuple(constraint(check.axis, check.phrase, check.question) for check in checks)
    return Asked(made, faults)
