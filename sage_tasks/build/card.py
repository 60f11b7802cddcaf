"""The dataset card: a README with a header that the Hub and ``load_dataset`` read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

import yaml

CARDS = files("sage_tasks.build") / "cards"


def card_text(report: Mapping[str, Any]) -> str:
    """README.md of a dataset from its build report."""
    name = report["dataset"]
    subsets = yaml.safe_load((CARDS / "subsets.yaml").read_text(encoding="utf-8"))
    family, _, language = name.partition("_")
    subset = subsets[family]
    if language:
        subset["title"] += f" ({language})"
    configs: dict[str, Any] = report["configs"]
    config = next(c for c in (name, *configs) if c in configs)
    template = Template((CARDS / "common.md").read_text(encoding="utf-8"))
    body = template.substitute(
        **{key: subset[key].strip() for key in subset if key != "license"},
        seed=report["seed"],
        config=config,
        split="test" if "test" in configs[config] else next(iter(configs[config])),
        splits=_splits(configs),
    )
    return "---\n" + _header(name, subset, report, config) + "---\n\n" + body


def _header(name: str, subset: Mapping[str, str], report: Mapping[str, Any], main: str) -> str:
    configs: dict[str, Any] = report["configs"]
    total = max(sum(e["items"] for e in splits.values()) for splits in configs.values())
    data = {
        "license": subset["license"],
        "pretty_name": subset["title"],
        "language": [report["facts"].get("language", "en")],
        "task_categories": ["visual-question-answering"],
        "tags": ["visual-word-sense-disambiguation", "sage", "wordsight"],
        "size_categories": [_size(total)],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if config == main else {}),
                "data_files": [
                    {"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits
                ],
            }
            for config, splits in configs.items()
        ]
        + [
            {
                "config_name": "images",
                "data_files": [{"split": "images", "path": "images/*.parquet"}],
            }
        ],
    }
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    return text


def _size(items: int) -> str:
    for bound, label in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if items < bound:
            return label
    return "100K<n<1M"


def _splits(configs: Mapping[str, Any]) -> str:
    lines = ["| config | split | queries | in the paper |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {config} | {split} | {entry['items']} | {entry.get('paper_items', '')} |"
        for config, splits in configs.items()
        for split, entry in splits.items()
    ]
    return "\n".join(lines)
