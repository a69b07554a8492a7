"""The JSON Schema of designs accepts the shipped designs and refuses what the records refuse."""

import copy
import tomllib

import jsonschema
import pytest

from cobandit.base.errors import CobanditError
from cobandit.studies import design_text, load_design, shipped_designs
from cobandit.studies.design_schema import design_help, design_schema


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(design_schema())
    return jsonschema.Draft202012Validator(design_schema())


@pytest.mark.parametrize("name", shipped_designs())
def test_shipped_designs_are_valid(validator, name):
    validator.validate(tomllib.loads(design_text(name)))


def changed(path, value):
    """Return the burger design with another value at a path; None deletes it."""
    data = copy.deepcopy(tomllib.loads(design_text("burger")))
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data


WRONG = [
    (("name",), "Has Blanks"),
    (("version",), 0),
    (("title",), "  "),
    (("title",), None),
    (("rounds",), 100_001),
    (("rounds",), "twenty"),
    (("order",), "latin"),
    (("observability",), [1.5, 0.5]),
    (("survey", "points"), 12),
    (("survey", "items", 0, "reversed"), "yes"),
    (("conditions", 0, "agent"), "no-such-agent"),
    (("conditions", 0, "agent"), "centralised-ucb"),
    (("conditions", 0, "name"), "practice"),
    (("conditions", 0, "options"), {"windw": 2}),
    (("conditions", 0, "options"), {"index": "nope"}),
    (("no_such_key",), 1),
    (("task", "no_such_key"), 1),
    (("payment",), {"currency": "euro"}),
    (("payment",), {"currency": "EUR", "fixed": "-1"}),
    (("conditions",), []),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=[f"{path[-1]}={value}" for path, value in WRONG])
def test_schema_and_records_refuse_the_same(validator, path, value):
    data = changed(path, value)
    assert not validator.is_valid(data)
    with pytest.raises(CobanditError):
        type(load_design("burger")).read("The design", data)


def test_every_field_has_a_type_and_a_description():
    schema = design_schema()
    for name, table in {"StudyDesign": schema, **schema["$defs"]}.items():
        for key, field in table.get("properties", {}).items():
            assert {"type", "$ref"} & field.keys(), f"{name}.{key}"
            assert field["description"], f"{name}.{key}"


def test_help_describes_existing_fields_only():
    schema = design_schema()
    tables = {"StudyDesign": schema, **schema["$defs"]}
    described = [(name, key) for name, keys in design_help().items() for key in keys]
    assert not [f"{name}.{key}" for name, key in described if key not in tables[name]["properties"]]
