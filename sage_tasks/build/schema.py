"""Column types of a dataset, for Parquet readers in general and for Hugging Face's in particular.

The types of ``datasets`` travel as JSON in the Parquet schema, so writing them needs no import of
that library and reading them needs nothing of this package.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

from sage_tasks.records import Kind

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: tuple[str, ...] = get_args(Kind)
_STRING = {"dtype": "string", "_type": "Value"}
_INTEGER = {"dtype": "int32", "_type": "Value"}

IMAGE_FEATURES: dict[str, Any] = {
    "id": _STRING,
    "source_id": _STRING,
    "width": _INTEGER,
    "height": _INTEGER,
    "source": _STRING,
    "licence": _STRING,
    "credit": _STRING,
    "label": _STRING,
    "file": _STRING,
    "image": {"_type": "Image"},
}
QUERY_FEATURES: dict[str, Any] = {
    "id": _STRING,
    "task": _STRING,
    "term": _STRING,
    "context": _STRING,
    "pos": _STRING,
    "candidates": {"feature": _STRING, "_type": "List"},
    "candidate_sources": {"feature": _STRING, "_type": "List"},
    "kinds": {"feature": {"names": list(KINDS), "_type": "ClassLabel"}, "_type": "List"},
    "gold": _INTEGER,
    "sense": _STRING,
    "gloss": _STRING,
    "source_id": _STRING,
}


def arrow_schema(features: dict[str, Any], extra: dict[str, str] | None = None) -> pa.Schema:
    """Arrow schema with the features in its metadata; ``extra`` is added to the metadata."""
    import pyarrow as pa

    metadata = {"huggingface": json.dumps({"info": {"features": features}}), **(extra or {})}
    fields = [pa.field(name, _arrow_type(feature)) for name, feature in features.items()]
    return pa.schema(fields, metadata=metadata)


def _arrow_type(feature: dict[str, Any]) -> pa.DataType:
    import pyarrow as pa

    if feature["_type"] == "List":
        return pa.list_(_arrow_type(feature["feature"]))
    if feature["_type"] == "Image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if feature["_type"] == "ClassLabel":
        return pa.int64()
    return pa.string() if feature["dtype"] == "string" else pa.int32()
