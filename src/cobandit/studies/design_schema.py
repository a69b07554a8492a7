"""The JSON Schema of a design, for text editors, for the editor in the browser and for the reference page.

Everything comes from the records of a design: types and limits from the checks of their fields, descriptions from
``design_help.toml``, options of agents from the agents. `load_design` also checks what a schema cannot express, such as
one label for each arm.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from functools import lru_cache
from importlib import resources

from cobandit.agents.base import Player
from cobandit.base.checks import JsonSchema
from cobandit.base.json_types import JsonObject
from cobandit.base.schema import Help, check_schema, json_schema
from cobandit.studies.agent_tables import AgentChoice, playable_agents
from cobandit.studies.design import StudyDesign
from cobandit.studies.lines import LINE_AGENTS


@lru_cache(maxsize=1)
def design_help() -> Help:
    """Return the description of every key, by the record that has it."""
    file = resources.files("cobandit.studies").joinpath("design_help.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def design_schema() -> JsonSchema:
    """Return the JSON Schema (draft 2020-12) of a design file, with the agents that are installed here."""
    schema = json_schema(StudyDesign, design_help())
    schema["title"] = "cobandit study design"
    agents: dict[str, type[Player]] = {**playable_agents(), **LINE_AGENTS}
    choices = [_option_rule(name, kind) for name, kind in agents.items()]
    kinds: list[type[AgentChoice]] = [AgentChoice, *AgentChoice.__subclasses__()]
    for name in {kind.__name__ for kind in kinds} & schema["$defs"].keys():
        schema["$defs"][name]["allOf"] = [{"$ref": "#/$defs/AgentOptions"}]
    schema["$defs"]["AgentOptions"] = {"allOf": choices}
    return schema


def _option_rule(name: str, kind: type[Player]) -> JsonSchema:
    """Return the rule for the options of one agent: known names only, each with its type and limits."""
    properties: JsonObject = {
        spec.name: check_schema(spec.metadata.get("check")) | {"description": spec.metadata.get("help", "")}
        for spec in fields(kind)
        if spec.init
    }
    return {
        "if": {"properties": {"agent": {"const": name}}, "required": ["agent"]},
        "then": {"properties": {"options": {"properties": properties, "additionalProperties": False}}},
    }
