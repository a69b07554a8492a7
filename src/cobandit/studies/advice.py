"""What a researcher should know about a design before anybody takes part, in sentences."""

from __future__ import annotations

from cobandit.studies.consent import placeholder_consent
from cobandit.studies.design import StudyDesign


def design_warnings(design: StudyDesign) -> list[str]:
    """Return warnings about a valid design that may spoil a study; empty if there are none."""
    warnings = []
    unwritten = placeholder_consent(design)
    if unwritten:
        warnings.append(
            f"The consent ({', '.join(unwritten)}) is the placeholder of a shipped design: a server takes no "
            "participants with it. Put in the text that your ethics board has approved."
        )
    sets = design.sets
    if design.swap_labels and sets > 2:
        alike = [[str(place + 1) for place in range(sets) if place % 2 == side] for side in (0, 1)]
        same = " and ".join(f"sets {', '.join(group)}" for group in alike if len(group) > 1)
        luck = "chances and luck" if design.shared_luck else "chances"
        warnings.append(
            f"There are {sets} conditions, and labels can be swapped in two ways only: {same} have the same labels and "
            f"the same {luck}, so people may notice that they meet the same task again. Two conditions "
            f"avoid it; otherwise ask about it at the end."
        )
    return warnings
