"""The other spellings that a field is read from, for its JSON Schema; it reads them itself."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


@dataclass(frozen=True, slots=True)
class AlsoWritten:
    """A value that may be written in other ways.

    Attributes:
        schemas: JSON Schema of each of them.
    """

    schemas: tuple[JsonSchemaValue, ...]

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(core_schema), *self.schemas]}


@dataclass(frozen=True, slots=True)
class AlsoAlone:
    """A list that may be written as its only item.

    Attributes:
        least: Fewest items.
    """

    least: int = 0

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        listed = handler(core_schema)
        return {"anyOf": [{**listed, "minItems": self.least}, listed["items"]]}
