"""Records of the shared schema "Every Eval Ever" (version 0.3.0): aggregates and single items."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from leaderboard.exporters.hub import hub_dataset
from leaderboard.files import write_atomic
from leaderboard.gold import Gold
from leaderboard.records import Board, Cell, Row
from leaderboard.scoring import ItemScore, value
from leaderboard.store import Store

SCHEMA_VERSION = "0.3.0"


def write_records(store: Store, board: Board, out: Path) -> list[Path]:
    """One aggregate file and one file of items per entry and task, under ``out/data``.

    Places are those of the shared repository: ``data/<task>/<developer>/<model>/<uuid>.json``.
    """
    written = []
    for track in board.tracks:
        for row in track.rows:
            for task, cell in row.cells.items():
                developer, _, name = row.model.rpartition("/")
                place = f"data/{task}/{developer or 'unknown'}/{name}/{_uuid(task, cell)}"
                identifier = f"{task}/{row.model}/{cell.submission}"
                lines = [
                    json.dumps(line, ensure_ascii=False)
                    for line in item_records(store, row, task, cell, identifier)
                ]
                items = out / f"{place}_samples.jsonl"
                content = ("\n".join(lines) + "\n").encode()
                write_atomic(items, content)
                record = aggregate(store, row, task, cell, identifier)
                record["detailed_evaluation_results"] = {
                    "format": "jsonl",
                    "file_path": f"{place}_samples.jsonl",
                    "hash_algorithm": "sha256",
                    "checksum": hashlib.sha256(content).hexdigest(),
                    "total_rows": len(lines),
                }
                path = out / f"{place}.json"
                text = json.dumps(record, indent=1, ensure_ascii=False)
                write_atomic(path, (text + "\n").encode())
                written += [path, items]
    return written


def aggregate(store: Store, row: Row, task: str, cell: Cell, identifier: str) -> dict[str, Any]:
    """The aggregate record of one entry on one task."""
    gold = store.gold(task)
    header = store.header(cell.submission)
    stamp = str(int(datetime.fromisoformat(row.submitted).timestamp()))
    details = {
        "method": row.method,
        "interface": cell.interface,
        **row.options,
        # a submission does not say where its model ran or whether its weights are open
        "deployment_type": "unknown",
        "model_availability": "unknown",
    }
    if row.revision:
        details["revision"] = row.revision
    results = [
        {
            "evaluation_name": f"{task} {measure.label}",
            "source_data": _source(gold),
            "metric_config": {
                "evaluation_description": measure.text,
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0,
                "max_score": 1,
            },
            "score_details": {
                "score": estimate.value,
                "details": {
                    "missing": str(cell.missing),
                    "invalid": str(cell.invalid),
                    "other_pictures": str(cell.other_pictures),
                },
                "uncertainty": {
                    "confidence_interval": {
                        "lower": estimate.low,
                        "upper": estimate.high,
                        "confidence_level": 0.95,
                        "method": estimate.method,
                    },
                    "num_samples": cell.items,
                },
            },
        }
        for measure in gold.kind.measures
        if (estimate := cell.scores.get(measure.name))
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identifier,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": store.catalog.title,
            "source_type": "evaluation_run",
            "source_organization_name": "Wordsight leaderboard",
            "evaluator_relationship": "third_party" if row.verified else "other",
        },
        "eval_library": {
            "name": "lmms-eval",
            "version": header.packages.get("lmms-eval", "unknown"),
        },
        "model_info": {
            "name": row.label,
            "id": row.model,
            "developer": row.model.rpartition("/")[0] or "unknown",
            "additional_details": details,
        },
        "evaluation_results": results,
    }


def item_records(
    store: Store, row: Row, task: str, cell: Cell, identifier: str
) -> list[dict[str, Any]]:
    """One record per answered item, with its raw responses."""
    gold = store.gold(task)
    responses = store.responses(cell.submission, task)
    return [
        _item(row, gold, identifier, score, responses[score.item])
        for score in store.scores(cell.submission, task)
        if score.item in responses
    ]


def _item(
    row: Row, gold: Gold, identifier: str, score: ItemScore, responses: list[str]
) -> dict[str, Any]:
    told, first = gold.exchanged(score), gold.kind.first
    values = {one.name: value(score, one.name) for one in gold.kind.measures}
    shown = {"raw": told.asked, "reference": [told.reference]}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identifier,
        "model_id": row.model,
        "evaluation_name": f"{gold.task.name} {first.label}",
        "sample_id": score.item,
        "sample_hash": hashlib.sha256((told.asked + told.reference).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {**shown, "choices": list(told.choices)} if told.choices else shown,
        "output": {"raw": responses},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": told.chosen,
                "extraction_method": told.how,
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": values[first.name], "is_correct": values[first.name] == 1.0},
        "error": score.reason or None,
        "metadata": {
            "status": score.status,
            **{name: str(number) for name, number in values.items() if name != first.name},
        },
    }


def _source(gold: Gold) -> dict[str, Any]:
    details = {"fingerprint": gold.fingerprint, "version": gold.task.version}
    pinned = hub_dataset(gold.task)
    if pinned is None:
        return {
            "dataset_name": gold.task.config,
            "source_type": "other",
            "additional_details": details,
        }
    return {
        "dataset_name": gold.task.config,
        "source_type": "hf_dataset",
        "hf_repo": pinned[0],
        "hf_split": gold.task.split,
        "samples_number": len(gold),
        "additional_details": {**details, "revision": pinned[1]},
    }


def _uuid(task: str, cell: Cell) -> uuid.UUID:
    """The same for the same answers: exporting again replaces files instead of adding some."""
    digest = hashlib.sha256(f"{task} {cell.submission}".encode()).digest()
    return uuid.UUID(bytes=digest[:16], version=4)
