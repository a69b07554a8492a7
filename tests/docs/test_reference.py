"""The reference cannot drift: what it lists is what there is, no more and no less."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

import cobandit
from cobandit import AGENTS
from cobandit.agents.beliefs import INDICES, TIES
from cobandit.base import errors
from cobandit.base.records import Record, plain_data
from cobandit.cli import app
from cobandit.experiments.figures import PANELS
from cobandit.problem.observation import OBSERVATIONS
from cobandit.studies import (
    BEHAVIOURS,
    Column,
    design,
    design_tables,
    load_design,
    rehearsed_data,
    schema,
    shipped_designs,
    tables,
    write_export,
)
from cobandit.studies.design_schema import design_schema
from tests.studies.questionnaires import asking_design

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = [
    "cobandit",
    "cobandit.analysis",
    "cobandit.experiments",
    "cobandit.theory",
    "cobandit.testing",
    "cobandit.compiled",
    "cobandit.interop",
    "cobandit.mdp",
    "cobandit.report",
    "cobandit.robot",
    "cobandit.problem",
    "cobandit.studies",
    "cobandit.web",
]


def flattened(commands: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Every command by what is typed, those of groups too: "study new"."""
    found: dict[str, Any] = {}
    for name, command in commands.items():
        inner = getattr(command, "commands", None)
        found |= {before + name: command} if inner is None else flattened(inner, f"{before}{name} ")
    return found


COMMANDS = flattened(typer.main.get_group(app).commands)
DESIGN_TABLES = {
    "The study": design.StudyDesign,
    "seats": design.Seat,
    "task": design.Task,
    "conditions": design.Condition,
    "conditions.agents": design.SeatAgent,
    "factors": design.Factor,
    "partners": design.PartnerIdentity,
    "warm_start": design.WarmStart,
    "practice": design.Practice,
    "means": design.MeansRule,
    "rewards": design.RewardRule,
    "survey": design.Survey,
    "survey.items": design.SurveyItem,
    "consent": design.Consent,
    "demographics": design.Question,
    "quiz": design.QuizItem,
    "attention": design.AttentionCheck,
    "questionnaires": design.Questionnaire,
    "questionnaires.scales": design.Scale,
    "questionnaires.items": design.QuestionnaireItem,
    "questionnaires.items.rows": design.MatrixRow,
    "questionnaires.items.show_if": design.ShowIf,
    "pages": design.ContentPage,
    "media": design.MediaFile,
    "analysis": design.AnalysisChoices,
    "limits": design.Limits,
    "group": design.Group,
    "outcomes": design.Outcome,
    "withdrawal": design.Withdrawal,
    "recruiter": design.Recruiter,
    "payment": design.Payment,
    "payment.bonuses": design.Bonus,
}


def rows(text: str) -> list[list[str]]:
    """The cells of every table row whose first cell begins with code."""
    lines = [line.replace(r"\|", "\0") for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace("\0", "|") for cell in line.strip("| ").split(" | ")] for line in lines]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server says of its interface."""
    from cobandit.web import WebConfig, create_app

    database = tmp_path_factory.mktemp("http") / "studies.sqlite"
    return create_app(WebConfig(database=f"sqlite:///{database}")).openapi()


class TestFrontDoor:
    def test_is_sorted_and_complete(self):
        assert cobandit.__all__ == sorted(cobandit.__all__)
        assert len(set(cobandit.__all__)) == len(cobandit.__all__)
        assert set(cobandit.__all__) <= set(dir(cobandit))

    @pytest.mark.parametrize("name", cobandit.__all__)
    def test_every_name_has_words_of_its_own(self, name):
        thing = getattr(cobandit, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            words = thing.__doc__ or ""
            assert words.split(), f"{name} has no docstring"
            assert not words.startswith(f"{name}("), f"{name} has only the docstring that dataclasses make"

    def test_holds_every_error(self):
        raised = [name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)]
        assert set(raised) <= set(cobandit.__all__)

    @pytest.mark.parametrize("module", MODULES)
    def test_the_page_lists_every_public_name(self, page_called, module):
        listed = rows(page_called("docs/reference/python.md").section(module).split("\n### ")[0])
        names = [row[0].strip("`") for row in listed]
        room = importlib.import_module(module)
        registered = {kind.__name__ for kind in getattr(room, "AGENTS", {}).values()}  # on pages of their own
        assert sorted(names) == sorted(set(room.__all__) - registered), "docs/reference/python.md: one row per name"

    def test_every_name_is_described_by_whole_words(self, page_called):
        page = page_called("docs/reference/python.md").text
        assert not re.findall(r"^\| `\w+` \| .* (?:the|a|an|and|or|with) \|$", page, re.MULTILINE)
        assert not re.findall(r"^\| `\w+` \| [a-z][A-Z]{2}", page, re.MULTILINE)

    def test_the_page_lists_the_arguments_of_simulate(self, page_called):
        section = page_called("docs/reference/python.md").section("cobandit").split("### simulate")[1]
        taken = list(inspect.signature(cobandit.simulate).parameters.values())
        listed = {row[0].strip("`"): row[1] for row in rows(section)}
        assert list(listed) == [argument.name for argument in taken[2:]]
        for argument in taken[3:]:
            assert listed[argument.name] == f"`{argument.default!r}`".replace("'", '"')


class TestAgents:
    @pytest.mark.parametrize("name", AGENTS)
    def test_options_defaults_and_meanings(self, page_called, name):
        section = page_called("docs/reference/agents.md").section(name)
        kind = AGENTS[name]
        expected = [
            [f"`{option}`", f"`{'none' if default is None else default}`", text]
            for option, default, text in kind.option_rows()
        ]
        table = "\n".join(f"| {' | '.join(row)} |" for row in expected)
        assert rows(section) == expected, f"docs/reference/agents.md, section {name}: write\n{table}"
        plain = " ".join(section.split())
        assert f"`cobandit.{kind.__name__}`" in plain
        assert kind.paper in plain

    def test_nothing_else_is_listed(self, page_called):
        headings = re.findall(r"^## (.+)$", page_called("docs/reference/agents.md").text, re.MULTILINE)
        assert headings == [*AGENTS, "human"]

    def test_every_agent_of_markov_problems_is_listed(self, page_called):
        section = page_called("docs/reference/markov.md").section("The plan")
        listed = [name for row in rows(section) for name in re.findall(r"`([a-z-]+)`", row[0])]
        assert listed == list(cobandit.mdp.AGENTS), "docs/reference/markov.md: one row per agent, as registered"

    @pytest.mark.parametrize("value", [*INDICES, *TIES])
    def test_values_are_explained(self, page_called, value):
        assert f"`{value}`" in page_called("docs/reference/agents.md").text


class TestCommandLine:
    SHARED = (
        "Options of the team",
        "Options of the problem",
        "Options of the simulation",
        "Options of stored studies",
    )

    def test_every_command_is_listed(self, page_called):
        page = page_called("docs/reference/command-line.md")
        assert re.findall(r"^\| \[`(.+?)`\]", page.text, re.MULTILINE) == list(COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_option_and_no_other(self, page_called, run_command, command):
        section = page_called("docs/reference/command-line.md").section(command)
        told = set(re.findall(r"`(--[a-z][a-z-]*)", section))
        names = [name for param in COMMANDS[command].params for name in (*param.opts, *param.secondary_opts)]
        real = {name for name in names if name.startswith("--")} - {"--help"}
        assert told == real
        helped = run_command(f"cobandit {command} --help")
        assert helped.exit_code == 0
        assert real <= set(re.findall(r"--[a-z][a-z-]*", helped.output))

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_default(self, page_called, command):
        page = page_called("docs/reference/command-line.md")
        shared = [row for name in self.SHARED for row in rows(page.section(name))]
        for param in COMMANDS[command].params:
            if isinstance(param.default, str | int | float) and not isinstance(param.default, bool):
                row = next(
                    row for row in rows(page.section(command)) + shared if row[0].startswith(f"`{param.opts[0]} ")
                )
                assert row[1] == f"`{param.default}`", f"{command} {param.opts[0]}"

    @pytest.mark.parametrize("name", ["docs/reference/command-line.md", "docs/how-to/design-a-study.md"])
    def test_every_shipped_design(self, page_called, name):
        assert [design for design in shipped_designs() if f"`{design}`" not in page_called(name).text] == []

    def test_every_option_of_an_agent_can_be_reached(self, page_called):
        section = page_called("docs/reference/command-line.md").section(self.SHARED[0])
        flags = re.findall(r"^\| `--([a-z]+) ", section, re.MULTILINE)
        known = {option for kind in AGENTS.values() for option, *_ in kind.option_rows()}
        assert set(flags) - {"option"} <= known


class TestModelsAndErrors:
    @pytest.mark.parametrize("name", OBSERVATIONS)
    def test_every_observation_model(self, page_called, name):
        assert f"| `{name}` |" in page_called("docs/reference/models.md").text

    def test_every_error_has_a_section(self, page_called):
        page = page_called("docs/reference/errors.md")
        for name, kind in vars(errors).items():
            if inspect.isclass(kind) and issubclass(kind, errors.CobanditError):
                assert name in page.text
                if kind is not errors.CobanditError:
                    assert page.section(name).strip()

    @pytest.mark.parametrize("room", ["studies", "web"])
    def test_every_error_of_studies_is_named(self, page_called, room):
        page = page_called("docs/reference/errors.md")
        package = importlib.import_module(f"cobandit.{room}")
        raised = {
            name
            for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
            if ".migrations" not in found.name
            for name, kind in vars(importlib.import_module(found.name)).items()
            if inspect.isclass(kind) and issubclass(kind, errors.CobanditError) and kind.__module__ == found.name
        }
        assert raised
        assert not [name for name in raised if f"| `{name}` |" not in page.section("Errors of studies")]


class TestStudyDesign:
    def test_every_table_is_there(self, page_called):
        page = page_called("docs/reference/study-design.md")
        assert re.findall(r"^## (.+)$", page.text, re.MULTILINE) == [
            *(*DESIGN_TABLES, "translations", "messages"),
            "The digest",
        ]
        made = {
            kind
            for kind in vars(design).values()
            if inspect.isclass(kind) and issubclass(kind, Record) and kind not in (Record, design.AgentChoice)
        }
        assert made == set(DESIGN_TABLES.values())

    @pytest.mark.parametrize("heading", DESIGN_TABLES)
    def test_every_field_with_its_default_and_no_other(self, page_called, heading):
        listed = rows(page_called("docs/reference/study-design.md").section(heading))
        fields = dataclasses.fields(DESIGN_TABLES[heading])
        assert sorted(row[0] for row in listed) == sorted(f"`{field.name}`" for field in fields)
        told = {row[0].strip("`"): row[2] for row in listed}
        for field in fields:
            assert told[field.name] == self.default_text(field.default), field.name
        assert all(len(row) == 4 and row[1] and row[3] for row in listed)

    @pytest.mark.parametrize("heading", DESIGN_TABLES)
    def test_the_schema_has_the_same_descriptions(self, page_called, heading):
        schema = design_schema()
        kind = DESIGN_TABLES[heading]
        table = schema if kind is design.StudyDesign else schema["$defs"][kind.__name__]
        for key, _, _, meaning in rows(page_called("docs/reference/study-design.md").section(heading)):
            text = table["properties"][key.strip("`")]["description"]
            assert re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning).casefold() == text.casefold(), key

    @staticmethod
    def default_text(default: Any) -> str:
        if default is dataclasses.MISSING:
            return "needed"
        if default is None:
            return "none"
        if isinstance(default, Record):
            return "all defaults"
        return f"`{json.dumps(plain_data(default))}`"

    def test_every_value_is_named(self, page_called):
        text = page_called("docs/reference/study-design.md").text
        values = (
            *design_tables.TASKS,
            *design_tables.PLAYERS,
            *design.ORDERS,
            *design.OBSERVATIONS,
            *design_tables.ANSWERS,
            "uniform",
            "fixed",
            "study",
        )
        assert not [value for value in values if f'`"{value}"`' not in text]

    @pytest.mark.parametrize("name", shipped_designs())
    def test_every_key_of_a_text_is_explained(self, page_called, name):
        section = page_called("docs/reference/study-design.md").section("translations")
        listed = [row[0].strip("`") for row in rows(section)]
        known = [re.sub(r"[A-Z]+", "[a-z0-9_.-]+", re.escape(key)) for key in listed]
        assert not [key for key in load_design(name).texts() if not any(re.fullmatch(one, key) for one in known)]


class TestStudyData:
    PAGE = "docs/reference/study-data.md"

    @staticmethod
    def template(column: Column) -> list[str]:
        """A row of the page: what depends on the design stands there in capitals."""
        name, meaning = column.name, column.meaning
        kind, *parts = column.key or ("",)
        if kind == "demographics":
            name, meaning = "QUESTION", "TEXT"
        elif kind == "attention":
            name, meaning = "attention_CHECK", "attention check after set SET: TEXT"
        elif kind == "survey":
            name, meaning = "survey_ITEM_CONDITION", "answer after condition CONDITION: TEXT"
        elif kind:
            name, meaning = f"{kind}_CONDITION", meaning.replace(parts[0], "CONDITION")
        return [f"`{name}`", meaning]

    @pytest.mark.parametrize("table", ["long", "wide", "survey", "events"])
    def test_every_column_with_its_meaning_and_no_other(self, page_called, table):
        study = load_design("burger")
        listed = [[row[0], row[2]] for row in rows(page_called(self.PAGE).section(table))]
        expected = [self.template(column) for column in schema(study, recruiting=True)[table]]
        assert listed == [row for place, row in enumerate(expected) if row not in expected[:place]]

    @pytest.mark.parametrize("table", ["long", "wide", "survey", "events"])
    def test_every_type_and_what_may_be_empty(self, page_called, table):
        told = {row[0]: row[1] for row in rows(page_called(self.PAGE).section(table))}
        for column in schema(load_design("burger"), recruiting=True)[table]:
            if column.key[:1] != ("demographics",):
                expected = f"{column.type}, may be empty" if column.optional else column.type
                assert told[self.template(column)[0]] == expected, column.name

    def test_the_table_of_questionnaires(self, page_called):
        told = [row[:3] for row in rows(page_called(self.PAGE).section("questionnaires"))]
        columns = schema(asking_design(), texts=True)["questionnaires"]
        types = [f"{column.type}, may be empty" if column.optional else column.type for column in columns]
        assert told == [[f"`{c.name}`", kind, c.meaning] for c, kind in zip(columns, types, strict=True)]

    def test_the_codebook(self, page_called):
        study = rehearsed_data(load_design("burger"), [], answers="none")
        listed = [row[0].strip("`") for row in rows(page_called(self.PAGE).section("codebook"))]
        assert listed == list(tables(study)["codebook"])

    def test_the_files_and_what_study_json_says(self, page_called, tmp_path):
        study = rehearsed_data(load_design("burger"), [("softmax", 0, 0)])
        files = write_export(study, tmp_path)
        told = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))
        page = page_called(self.PAGE)
        assert [row[0].strip("`") for row in rows(page.section("study.json"))] == list(told)
        assert not [file.name for file in files if f"`{file.stem}" not in page.text]


class TestHttp:
    PAGE = "docs/reference/http.md"

    def test_every_route_and_no_other(self, page_called, described):
        page = page_called(self.PAGE)
        told = [row[0].strip("`") for row in rows(page.text) if re.match(r"`(GET|POST|PUT|PATCH|DELETE) /api/", row[0])]
        real = [f"{method.upper()} {path}" for path, methods in described["paths"].items() for method in methods]
        assert sorted(told) == sorted(real)

    def test_every_page_and_no_other(self, page_called, described):
        from cobandit.web.routes import home, participant
        from cobandit.web.routes.admin import account, login, pages, results

        hidden = {
            f"{method} {route.path}"  # type: ignore[attr-defined]
            for router in (home.router, participant.router, login.router, pages.router, results.router, account.pages)
            for route in router.routes
            if route.path not in described["paths"]  # type: ignore[attr-defined]
            for method in route.methods  # type: ignore[attr-defined]
        }
        told = {row[0].strip("`") for row in rows(page_called(self.PAGE).section("Pages"))}
        assert told == hidden

    def test_what_is_answered_when_all_is_well(self, page_called, described):
        for path, methods in described["paths"].items():
            for method, about in methods.items():
                row = next(row for row in rows(page_called(self.PAGE).text) if row[0] == f"`{method.upper()} {path}`")
                assert row[1].split(", ") == sorted(code for code in about["responses"] if code.startswith("2")), path

    def test_every_error_code(self, page_called):
        room = ROOT / "src" / "cobandit" / "web"
        own = [path for path in room.rglob("*.py") if "partner" not in path.parts]  # test_partner_api.py has those
        source = "\n".join(path.read_text(encoding="utf-8") for path in own)
        code, status = '"([a-z-]+)"', r"(?:request, )?\s*(?:\d+|error\.status_code),\s*"
        said = re.findall(rf"(?:Refused|_answer)\({status}{code}", source)
        said += re.findall(rf"conflict\({code}", source) + re.findall(f'"error": {code}', source)
        told = [row[0].strip("`") for row in rows(page_called(self.PAGE).section("Errors"))]
        assert not set(said) - set(told)
        assert not [one for one in told if f'"{one}"' not in source]

    def test_limits_and_kinds_of_events(self, page_called):
        from cobandit.web import access, security
        from cobandit.web.services.page_events import EVENT_KINDS
        from cobandit.web.services.participants import MOST_MOVES

        text = " ".join(page_called(self.PAGE).text.split())
        assert f"1 to {MOST_MOVES} moves" in text
        assert f"{security.LARGEST_BODY // 1024} KB" in text
        assert f"{access.LOGIN_HOURS} hours" in text  # type: ignore[attr-defined]
        assert not [kind for kind in EVENT_KINDS if f"`{kind}`" not in text]


class TestStudyPages:
    @pytest.mark.parametrize("name", BEHAVIOURS)
    def test_every_behaviour_can_be_found(self, page_called, name):
        agents = page_called("docs/reference/agents.md").text
        assert f"`{name}`" in page_called("docs/how-to/pilot-a-study.md").text or f"## {name}" in agents

    def test_every_recruiting_parameter_has_its_link(self, page_called):
        from cobandit.web.services.recruiting import RECRUITERS

        links = page_called("docs/how-to/run-a-study.md").text
        known = [parameter for _, name, more in RECRUITERS for parameter in (name, *more)]
        assert not [name for name in known if f"{name}=" not in links and f'"{name}"' not in links]


class TestPaperMap:
    def test_every_path_is_there(self, page_called):
        text = page_called("docs/reference/paper-map.md").text
        paths = re.findall(r"`([a-z_0-9]+/[a-z_0-9/]*(?:\.py)?)`", text.partition("\n## ")[2])
        lost = [path for path in paths if not any((ROOT / base / path).exists() for base in ("src/cobandit", "tests"))]
        assert paths
        assert not lost

    def test_both_theory_modules_have_their_place(self, page_called):
        text = page_called("docs/reference/paper-map.md").text
        assert not [home for home in ("theory/bound", "theory/fact_one") if f"`{home}.py`" not in text]

    def test_every_panel_and_both_studies(self, page_called):
        page = page_called("docs/reference/paper-map.md")
        listed = re.findall(
            r"^\| (\w+(?: left| right)?) \|.*`experiments/", page.section("The simulations"), re.MULTILINE
        )
        assert [name.replace(" ", "-").replace("_", "-") for name in listed] == list(PANELS)
        assert "Burger study" in page.section("The studies")
        assert "Casino study" in page.section("The studies")


class TestFirstPages:
    def test_the_readme_is_short_and_says_first_how_to_begin(self, page_called):
        page = page_called("README.md")
        assert len(page.text.splitlines()) <= 120
        assert len(page.text.split()) <= 700
        assert not [
            command for command in ("pip install", "make run", "make test") if command not in page.blocks[0].text
        ]

    def test_the_installation_page_lists_every_extra(self, page_called):
        text = page_called("docs/reference/installation.md").text
        assert not [extra for extra in set(PROJECT["optional-dependencies"]) - {"dev"} if f"| `{extra}` |" not in text]

    def test_the_version_is_one_and_in_the_changelog(self):
        changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        assert PROJECT["version"] == cobandit.__version__
        assert re.search(rf"^## \[?{re.escape(cobandit.__version__)}\]?", changes, re.MULTILINE)
        entries = re.findall(r"^- \*\*(.+?)\*\*", changes, re.MULTILINE)
        assert len(entries) == len(set(entries)) > 40  # a merge easily keeps both versions of an entry

    def test_hooks_are_local(self):
        hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
        assert set(re.findall(r"repo: *(\S+)", hooks)) == {"local"}
