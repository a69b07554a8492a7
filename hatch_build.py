"""Build hook: copy the third-party scripts of the pages into the package (docs/decisions/0028-third-party-scripts.md).

A source distribution contains them already, so a wheel is built from it without npm. Where they cannot be fetched the
build warns and goes on, because pages work without them; with CI=true only an editable install goes on.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ThirdPartyHook(BuildHookInterface[Any]):
    """Copies the files that are missing before anything is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy the files, with the system's npm where they have to be fetched."""
        third_party = _load(Path(self.root, "tools", "third_party.py"))
        try:
            third_party.get(third_party.installed_npm(), Path(self.root))
        except third_party.Unavailable as error:
            if third_party.is_strict() and version != "editable":
                raise
            self.app.display_warning(
                f"Third-party scripts are missing, so pages show films and static charts: {error}. "
                "Install npm and run: python tools/third_party.py"
            )


def _load(path: Path) -> ModuleType:
    """Import a file of this project, which is no package in the environment of a build."""
    specification = importlib.util.spec_from_file_location("third_party", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["third_party"] = module  # where its dataclass looks for the names of its types
    specification.loader.exec_module(module)
    return module
