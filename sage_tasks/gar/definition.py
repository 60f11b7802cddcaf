"""From candidate glosses and context to one definition (SAGE, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sage_tasks.gar.asking import Asked, ask_until_read
from sage_tasks.gar.prompts import DEFINE, DEFINE_WITHOUT_GLOSSES
from sage_tasks.gar.records import Definition
from sage_tasks.gar.replies import DefinitionReply, read_definition
from sage_tasks.gar.text_models import TextModel
from sage_tasks.lexicons.base import Gloss

MAX_TOKENS = 110


def define(
    model: TextModel,
    items: Sequence[tuple[str, str, Sequence[Gloss]]],
    attempts: int,
    *,
    retrieval: bool,
) -> list[Asked[Definition]]:
    """One definition per (term, context, glosses), each with what its text needed.

    retrieval : False for Generated Def., which sees no glosses. Where no reply could be read, the
    first gloss stands in, word for word, or, without glosses, the context itself.
    """
    prompts, shown = [], []
    for term, context, glosses in items:
        seen = list(glosses) if retrieval else []
        shown.append(seen)
        if seen:
            numbered = "\n".join(f"{i}. {gloss.text}" for i, gloss in enumerate(seen, 1))
            prompts.append(DEFINE.fill(term=term, context=context, glosses=numbered))
        else:
            prompts.append(DEFINE_WITHOUT_GLOSSES.fill(term=term, context=context))
    readers = [_reader(len(seen)) for seen in shown]
    starts = ["Number:" if seen else "Definition:" for seen in shown]
    replies = ask_until_read(model, prompts, readers, starts, MAX_TOKENS, attempts)
    return [
        Asked(_definition(reply.value, term, context, seen), reply.faults)
        for reply, (term, context, _), seen in zip(replies, items, shown, strict=True)
    ]


def _reader(glosses: int) -> Callable[[str], DefinitionReply | None]:
    return lambda text: read_definition(text, glosses)


def _definition(
    reply: DefinitionReply | None, term: str, context: str, glosses: Sequence[Gloss]
) -> Definition:
    if reply is None:
        if glosses:
            first = glosses[0]
            return Definition(text=first.text, chosen=_key(first), origin="gloss")
        return Definition(text=f"{term}, as in {context!r}.", origin="context")
    number = reply.number
    return Definition(
        text=reply.text if reply.text.endswith((".", "!", "?")) else f"{reply.text}.",
        visible=reply.visible,
        chosen=_key(glosses[number - 1]) if number and glosses else "",
        departs=None if number is None or not glosses else number == 0,
    )


def _key(gloss: Gloss) -> str:
    return f"{gloss.source}:{gloss.key}"
