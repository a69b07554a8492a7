"""Tables that fold: on a narrow screen each row becomes several lines, and no column is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions


class FoldingTable(Table):
    """A table that folds; ``titled`` means that the first column contains the names of the rows."""

    titled = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        """Yield the table, or its rows as separate blocks if it does not fit."""
        if self._needed_width(console, options) <= options.max_width:
            yield from super().__rich_console__(console, options)
        else:
            yield from self._folded()

    def _needed_width(self, console: Console, options: ConsoleOptions) -> int:
        """Return the smallest width at which no name and no number is cut. Names may break between words."""
        whole = int(super().__rich_measure__(console, options.update_width(10_000)).maximum)
        if not self.titled:
            return whole
        names = [str(text) for text in (*self.columns[0].cells, *str(self.columns[0].header).splitlines())]
        widest = max((cell_len(name) for name in names), default=0)
        words = max((cell_len(word) for name in names for word in name.split()), default=0)
        return whole - widest + words

    def _folded(self) -> Iterator[Text]:
        labels = self._labels()
        width = max((cell_len(label) for label in labels[1:]), default=0)
        for row in zip(*([str(cell) for cell in column.cells] for column in self.columns), strict=True):
            yield Text("")
            yield Text(row[0] if self.titled else f"{labels[0]} {row[0]}".strip(), overflow="fold")
            for label, cell in zip(labels[1:], row[1:], strict=True):
                yield Text(f"  {label}{' ' * (width - cell_len(label))}  {cell}".rstrip(), overflow="fold")
        yield Text("")

    def _labels(self) -> list[str]:
        """Return the label of each column in folded rows. The upper line of a head applies to all columns up to the
        next one.
        """
        labels, group = [], ""
        for column in self.columns:
            upper, _, lower = str(column.header).rpartition("\n")
            group = upper or group
            labels.append(" ".join(f"{group} {lower}".split()))
        return labels
