"""What the models of this package share: reading requests, ordering them, streaming answers.

Methods built on a model (GAR, Symbal) use two calls and need no harness:

* :meth:`PictureModel.answer` takes questions about pictures and yields one response per question,
  in order, under the contract of :mod:`wordsight.answers`. Put the questions about one picture
  next to each other (:meth:`Ask.asking` makes another question about the same picture): a model
  that can will then encode the picture, and all that stands before the question, once.
* :meth:`PictureModel.write` takes prompts without a picture and yields what the model writes.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lmms_eval.api.model import lmms

from wordsight.errors import WordsightError
from wordsight.models.device import usable_device

if TYPE_CHECKING:
    from PIL.Image import Image

QuestionKind = Literal["yes_no", "scalar", "choice"]


class PictureSource(Protocol):
    """Where pictures are read from, by content id."""

    def picture(self, image_id: str) -> Image:
        """The picture, upright RGB. Raises DataError naming the file when it cannot be decoded."""
        ...

    def picture_bytes(self, image_id: str) -> bytes:
        """The picture's bytes as they came."""
        ...


@dataclass(frozen=True)
class Ask:
    """One question about one picture, and the words of the item it belongs to.

    ``kind`` tells what answer the question asks for. A "choice" is about all of ``image_ids``, in
    that order; ``image_id`` is then the first of them.
    """

    question: str
    image_id: str
    source: PictureSource
    term: str = ""
    context: str = ""
    gloss: str = ""
    pos: str = ""
    kind: QuestionKind = "yes_no"
    image_ids: tuple[str, ...] = ()

    def picture(self) -> Image:
        """The picture, decoded now; raises DataError naming the file when it cannot be."""
        return self.source.picture(self.image_id)

    def pictures(self) -> list[Image]:
        """All pictures of the question, decoded now."""
        return [self.source.picture(image_id) for image_id in self.image_ids or (self.image_id,)]

    def asking(self, question: str) -> Ask:
        """Another yes/no question about the same picture."""
        return dataclasses.replace(self, question=question, kind="yes_no", image_ids=())


class PictureModel(lmms):
    """Base of models that answer questions about pictures.

    Subclasses implement :meth:`answer`, which yields as it goes: what has been yielded is kept
    when a run is interrupted.
    """

    is_simple = True
    # Whether all that was computed together has been yielded. A run that is cut there goes on with
    # the same batches, so that its scores are those of a whole run to the last bit.
    settled = True
    # What kinds of question the model can answer; a similarity has no text to give.
    kinds: frozenset[QuestionKind] = frozenset({"yes_no"})

    def __init__(
        self, batch_size: int | str = 1, device: str | None = None, max_batch_size: Any = None
    ) -> None:
        super().__init__()
        self.batch_size = int(batch_size)
        self.device = usable_device(device)

    @abc.abstractmethod
    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield one response per ask, in order, as soon as it is known."""

    def write(self, prompts: Sequence[str], max_tokens: int = 256) -> Iterator[str]:
        """Yield what the model writes after each prompt, without a picture, greedily.

        Raises WordsightError where the model writes no text.
        """
        raise WordsightError(f"{type(self).__name__} compares pictures with texts and writes none")

    def reply(self, prompts: Sequence[str], max_tokens: int) -> Iterator[str]:
        """Yield a response per prompt without a picture; a request that failed is marked."""
        return self.write(prompts, max_tokens)

    def arrange(self, requests: Sequence[Any]) -> list[int]:
        """The order in which requests are best asked, as positions.

        Questions about one picture stand together, pictures of one size too, large ones first, so
        that a picture too large for the memory shows at once. Questions without a picture follow.
        """
        order, _ = self._arranged(requests)
        return order

    def generate_until(self, requests: list[Any]) -> Iterator[str]:
        """lmms-eval's call; the responses come as a stream, in the order of the requests."""
        order, asks = self._arranged(requests)
        answers = self.answer(asks) if asks else iter(())
        rest = [requests[position] for position in order[len(asks) :]]
        for tokens, group in itertools.groupby(rest, key=_most_tokens):
            prompts = [request.args[0] for request in group]
            answers = itertools.chain(answers, self.reply(prompts, tokens))
        return in_original_order(order, answers)

    def _arranged(self, requests: Sequence[Any]) -> tuple[list[int], list[Ask]]:
        """Positions in the order of ``arrange``, and the asks of those about a picture."""
        about = [position for position, one in enumerate(requests) if self._has_picture(one)]
        asks = [self._ask(requests[position]) for position in about]
        order = picture_major(asks)
        rest = sorted(set(range(len(requests))) - set(about))
        return [*(about[i] for i in order), *rest], [asks[i] for i in order]

    def _has_picture(self, request: Any) -> bool:
        """Whether a request is about a picture. Raises WordsightError for tasks of others."""
        _, _, _, doc_id, task, split = request.args
        view = self.task_dict[task][split]
        doc = view[doc_id]
        if hasattr(view, "picture") and "image_id" in doc:
            return True
        if "item" in doc:
            return False
        raise WordsightError(
            f"task {task}: this model runs on the tasks of this package only (`wordsight tasks`); "
            "others need an adapter of lmms-eval"
        )

    def _ask(self, request: Any) -> Ask:
        question, _, _, doc_id, task, split = request.args
        view = self.task_dict[task][split]
        doc = view[doc_id]
        if "image_id" not in doc:
            raise WordsightError(
                f"task {task} is no picture ranking task, and {type(self).__name__} does nothing "
                "else; e.g. sage_demo is one"
            )
        kind = doc.get("kind", "yes_no")
        if kind not in self.kinds:
            raise WordsightError(
                f"task {task} asks for a {kind} answer, which {type(self).__name__} cannot give; "
                "run the yes/no form of the task"
            )
        return Ask(
            question=question,
            image_id=doc["image_id"],
            source=view,
            term=doc["term"],
            context=doc["context"],
            gloss=doc["gloss"],
            pos=doc.get("pos", ""),
            kind=kind,
            image_ids=tuple(doc.get("image_ids", ())),
        )

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        """Not offered: the tasks ask for text under the response contract."""
        raise WordsightError(f"{type(self).__name__} answers generate_until requests only")

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        """Not offered: every question stands alone."""
        raise WordsightError(f"{type(self).__name__} answers single questions only")


def _most_tokens(request: Any) -> int:
    options = next((argument for argument in request.args if isinstance(argument, dict)), {})
    return int(options.get("max_new_tokens", 256))


def picture_major(asks: Sequence[Ask]) -> list[int]:
    """Positions of the asks, sorted by kind, size of the picture (large first) and picture."""

    def key(position: int) -> tuple[str, int, int, str, int]:
        ask = asks[position]
        size = getattr(ask.source, "picture_size", None)
        width, height = size(ask.image_id) if size is not None else (0, 0)
        return ask.kind, -width * height, -width, ask.image_id, position

    return sorted(range(len(asks)), key=key)


def in_original_order(order: Sequence[int], answers: Iterator[str]) -> Iterator[str]:
    """Yield answers that come in ``order`` by position, each as soon as all before it are there.

    Raises ValueError when there are fewer answers than positions.
    """
    waiting: dict[int, str] = {}
    due = 0
    for position, answer in zip(order, answers, strict=True):
        waiting[position] = answer
        while due in waiting:
            yield waiting.pop(due)
            due += 1
