"""What each JSON Schema keyword says when a document breaks it: what was found, and what is expected.

Rules:
- A message is `what was found; what is expected`. Long values are cut, so that a message stays one short
  line whatever the document holds, and no part of the document is printed whole.
- Numbers are ECMAScript's: 1.0 is an integer, true is not a number.
- Checks take time in proportion to the document; repeated items are found through a set.

This module imports jsonschema; `validator` imports it only when a document is to be checked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from .formats import FORMATS, compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

SHOWN = 80

_NAMES = {
    "string": "a string",
    "object": "an object",
    "array": "an array",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def found(value: object) -> str:
    """A short name for a value of a document."""
    if isinstance(value, dict):
        return f"an object with {_count(len(value), 'member')}"
    if isinstance(value, list):
        return f"an array of {_count(len(value), 'item')}"
    if isinstance(value, str):
        # ASCII only: what does not print, or cannot be encoded, must not reach a terminal.
        return json.dumps(value if len(value) <= SHOWN else value[: SHOWN - 3] + "...")
    return json.dumps(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(values: list[Any]) -> str:
    return ", ".join(found(value) for value in values)


def _types(types: Any) -> str:
    return " or ".join(_NAMES[name] for name in ([types] if isinstance(types, str) else types))


def _wanted(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "a value"
    if "const" in schema:
        return found(schema["const"])
    if "enum" in schema:
        return f"one of {_listed(schema['enum'])}"
    return _types(schema["type"]) if "type" in schema else "a value"


def _type(validator: Any, types: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    wanted = [types] if isinstance(types, str) else types
    if not any(validator.is_type(instance, name) for name in wanted):
        yield ValidationError(f"{found(instance)}; expected {_types(types)}")


def _required(_validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for name in names:
        if name not in instance:
            wanted = _wanted(schema.get("properties", {}).get(name))
            yield ValidationError(f"missing; expected {wanted}", path=(name,))


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in known or any(compiled(pattern).search(name) for pattern in patterns):
            continue
        if allowed is False:
            keys = ", ".join(known) or "no key at all"
            yield ValidationError(f"not a key of this object; expected {keys}", path=(name,))
        else:
            yield from validator.descend(value, allowed, path=name)


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if compiled(pattern).search(name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _enum(_validator: Any, values: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    key = _key(instance)
    if all(_key(value) != key for value in values):
        yield ValidationError(f"{found(instance)}; expected one of {_listed(values)}")


def _const(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if _key(value) != _key(instance):
        yield ValidationError(f"{found(instance)}; expected {found(value)}")


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not compiled(pattern).search(instance):
        yield ValidationError(f"{found(instance)}; expected text that matches {pattern}")


def _format(_validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    known = FORMATS.get(name)
    if isinstance(instance, str) and known is not None and not known[0](instance):
        yield ValidationError(f"{found(instance)}; expected {known[1]}")


def _unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not wanted or not isinstance(instance, list):
        return
    first: dict[object, int] = {}
    for index, item in enumerate(instance):
        earlier = first.setdefault(_key(item), index)
        if earlier != index:
            message = f"{found(item)} again, as in item {earlier}; expected each item once"
            yield ValidationError(message, path=(index,))


def _key(value: Any) -> object:
    # JSON equality: 1 equals 1.0 and not true; the order of members does not count.
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(_key(item) for item in value))
    return (isinstance(value, bool), value)


def _size(noun: str, sized: type, bound: str) -> Check:
    wanted = "at least" if bound == "least" else "at most"

    def check(_validator: Any, limit: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if not isinstance(instance, sized):
            return
        size = len(instance)  # type: ignore[arg-type]  # each of the three types that are asked for is sized
        if size < limit if bound == "least" else size > limit:
            yield ValidationError(f"{_count(size, noun)}; expected {wanted} {limit}")

    return check


def _limit(wanted: str, breaks: Callable[[Any, Any], bool]) -> Check:
    def check(validator: Any, limit: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "number") and breaks(instance, limit):
            yield ValidationError(f"{found(instance)}; expected {wanted} {limit}")

    return check


def _any_of(validator: Any, forms: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not any(validator.evolve(schema=form).is_valid(instance) for form in forms):
        yield ValidationError(f"{found(instance)}; expected one of the {len(forms)} forms of the schema")


def _one_of(validator: Any, forms: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    fitting = sum(validator.evolve(schema=form).is_valid(instance) for form in forms)
    if fitting != 1:
        how_many = f"fits {fitting} forms" if fitting else "fits no form"
        yield ValidationError(
            f"{found(instance)} that {how_many}; expected exactly one of the {len(forms)} forms of the schema"
        )


def _not(validator: Any, form: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.evolve(schema=form).is_valid(instance):
        yield ValidationError(f"{found(instance)}; expected another form than the schema excludes here")


def _contains(validator: Any, form: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, list):
        return
    least = schema.get("minContains", 1)
    item = validator.evolve(schema=form)
    fitting = sum(item.is_valid(each) for each in instance)
    if fitting < least:
        wanted = _wanted(form)
        yield ValidationError(f"{fitting} items of the wanted form; expected at least {least}: {wanted}")


VALIDATOR: Any = extend(  # type: ignore[no-untyped-call]  # the stubs leave it without types
    Draft202012Validator,
    {
        "type": _type,
        "required": _required,
        "additionalProperties": _additional_properties,
        "patternProperties": _pattern_properties,
        "enum": _enum,
        "const": _const,
        "pattern": _pattern,
        "format": _format,
        "uniqueItems": _unique_items,
        "minLength": _size("character", str, "least"),
        "maxLength": _size("character", str, "most"),
        "minItems": _size("item", list, "least"),
        "maxItems": _size("item", list, "most"),
        "minProperties": _size("member", dict, "least"),
        "maxProperties": _size("member", dict, "most"),
        "minimum": _limit("at least", lambda value, limit: value < limit),
        "maximum": _limit("at most", lambda value, limit: value > limit),
        "exclusiveMinimum": _limit("more than", lambda value, limit: value <= limit),
        "exclusiveMaximum": _limit("less than", lambda value, limit: value >= limit),
        "anyOf": _any_of,
        "oneOf": _one_of,
        "not": _not,
        "contains": _contains,
    },
)
