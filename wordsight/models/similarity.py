"""What models that compare pictures with texts share: each picture and text is encoded once."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from wordsight.answers import similarity
from wordsight.models.ahead import Ahead
from wordsight.models.base import Ask, PictureModel

# Requests that are looked through for new pictures and texts at a time, per row of a batch.
_WINDOW = 64


class SimilarityModel(PictureModel):
    """Base of models with a picture encoder and a text encoder.

    Vectors have length 1; they are kept by content id and by text for the life of the model,
    whatever tasks ask.
    """

    def __init__(self, workers: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self._pool = ThreadPoolExecutor(int(workers)) if int(workers) else None
        self._pictures: dict[str, torch.Tensor] = {}
        self._texts: dict[str, torch.Tensor] = {}

    @abc.abstractmethod
    def words(self, ask: Ask) -> str:
        """The text that stands for the ask's meaning. Raises WordsightError where it has none."""

    @abc.abstractmethod
    def prepare(self, ask: Ask) -> Any:
        """What the encoder needs of the ask's picture; may be called from several threads."""

    @abc.abstractmethod
    def encode_pictures(self, prepared: Sequence[Any]) -> torch.Tensor:
        """Vectors of pictures, shape (n, d), on the CPU."""

    @abc.abstractmethod
    def encode_texts(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts, shape (n, d), on the CPU."""

    def answer(self, asks: Sequence[Ask]) -> Iterator[str]:
        """Yield the cosine of picture and text per ask."""
        size = _WINDOW * self.batch_size
        vectors = self.picture_vectors(asks)
        for start in range(0, len(asks), size):
            texts = [self.words(ask) for ask in asks[start : start + size]]
            self.text_vectors(texts)
            for text, picture in zip(texts, vectors, strict=False):
                yield similarity(float(picture @ self._texts[text]))

    def picture_vectors(self, asks: Sequence[Ask]) -> Iterator[torch.Tensor]:
        """Yield the vector of each ask's picture, shape (d,), batch by batch."""
        firsts = {ask.image_id: ask for ask in asks if ask.image_id not in self._pictures}
        ahead = Ahead(list(firsts.values()), self.prepare, self._pool)
        waiting = iter(list(firsts))
        for ask in asks:
            while ask.image_id not in self._pictures:
                batch = list(itertools.islice(waiting, self.batch_size))
                made = ahead.take({key: firsts[key] for key in batch}, 2 * self.batch_size)
                found = self.encode_pictures([made[key] for key in batch])
                self._pictures.update(zip(batch, found, strict=True))
            yield self._pictures[ask.image_id]

    def text_vectors(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors of texts, shape (n, d); those not seen before are encoded, batch by batch."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        for start in range(0, len(new), self.batch_size):
            batch = new[start : start + self.batch_size]
            self._texts.update(zip(batch, self.encode_texts(batch), strict=True))
        return torch.stack([self._texts[text] for text in texts])
