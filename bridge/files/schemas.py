"""JSON Schemas of every file we write: ``python -m bridge.files.schemas docs/schemas``.

They describe what is accepted, short forms included, and are made from the model itself. What no
schema can say (ids that are unique, weights that sum to 1) is checked on reading.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

from bridge.files.jsonl import write_atomically
from bridge.model.baseline import Baseline
from bridge.model.calibration import Calibration, Label
from bridge.model.case import Case
from bridge.model.conversion import Conversion
from bridge.model.output import Output
from bridge.model.run import ExpectedRows, RunRecord
from bridge.model.score import Score
from bridge.model.suite import Suite
from bridge.model.values import Model
from bridge.model.verdict import Verdict

SCHEMAS: Mapping[str, tuple[type[Model], str]] = {
    "case": (Case, "a line of a golden set"),
    "output": (Output, "a line of an outputs file"),
    "score": (Score, "a line of a scores file"),
    "suite": (Suite, "bridge.yaml"),
    "run": (RunRecord, "run.json"),
    "rows": (ExpectedRows, "a line of rows.jsonl"),
    "baseline": (Baseline, "a baseline"),
    "conversion-report": (Conversion, "a conversion report"),
    "label": (Label, "a line of a labels file"),
    "calibration": (Calibration, "a calibration"),
    "eval-report": (Verdict, "eval-report.json"),
}
"""By name of the schema: the type, and the file it describes."""


class _Generator(GenerateJsonSchema):
    """Without titles, which only repeat the names of fields."""

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        made: JsonSchemaValue = _without_titles(super().generate(schema, mode))
        return {"$schema": self.schema_dialect, **made}

    def encode_default(self, dft: Any) -> Any:
        return {} if dft == {} else super().encode_default(dft)


def _without_titles(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_titles(item)
            for key, item in value.items()
            if key != "title" or not isinstance(item, str)
        }
    return [_without_titles(item) for item in value] if isinstance(value, list) else value


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of that name."""
    model, file = SCHEMAS[name]
    made = model.model_json_schema(schema_generator=_Generator)
    return {"$schema": made["$schema"], "title": file, **made}


def schema_text(name: str) -> str:
    """The schema as it is committed."""
    return json.dumps(json_schema(name), indent=1, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write every schema to ``<folder>/<name>.schema.json``."""
    for name in SCHEMAS:
        write_atomically(folder / f"{name}.schema.json", [schema_text(name)])


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
