"""A design with questionnaires of every kind, for several tests."""

import tomllib

from cobandit.studies import StudyDesign, design_text

QUESTIONNAIRES = """
[[questionnaires]]
id = "mood"
when = "before"
title = "Before you begin"
[[questionnaires.scales]]
id = "calm"
points = 5
low = "Not at all"
high = "Very"
[[questionnaires.items]]
id = "relaxed"
text = "I feel relaxed."
scale = "calm"
[[questionnaires.items]]
id = "tense"
text = "I feel tense."
scale = "calm"
reversed = true

[[questionnaires]]
id = "partner"
when = "after"
title = "Your partner"
intro = "Think of the part that you have just played."
shuffled = true
[[questionnaires.scales]]
id = "trust"
[[questionnaires.scales]]
id = "ease"
points = 4
low = "Hard"
high = "Easy"
[[questionnaires.items]]
id = "reliable"
text = "I could rely on my partner."
scale = "trust"
[[questionnaires.items]]
id = "doubt"
text = "I doubted its choices."
scale = "trust"
reversed = true
[[questionnaires.items]]
id = "parts"
kind = "matrix"
text = "How hard or easy was it"
scale = "ease"
rows = [{ id = "start", text = "at the start?" }, { id = "finish", text = "at the end?" }]

[[questionnaires]]
id = "pause"
when = "between"
title = "A short question"
[[questionnaires.items]]
id = "tired"
kind = "slider"
text = "How tired are you?"
low = "Not tired"
high = "Very tired"

[[questionnaires]]
id = "last"
when = "end"
title = "To finish"
[[questionnaires.items]]
id = "hours"
kind = "number"
text = "How many hours a week do you play games?"
highest = 168
decimals = 1
[[questionnaires.items]]
id = "plan"
kind = "choice"
text = "Did you follow a plan?"
choices = ["No", "Yes"]
[[questionnaires.items]]
id = "which"
kind = "text"
text = "Which plan?"
longest = 40
show_if = { item = "plan", any = [1] }
[[questionnaires.items]]
id = "helped"
kind = "choices"
text = "What helped you?"
choices = ["The counts", "My partner", "Luck"]
required = false
[[questionnaires.items]]
id = "order"
kind = "ranking"
text = "Rank these."
choices = ["Winning", "Learning", "Fun"]
"""


def asking_design(questionnaires: str = QUESTIONNAIRES, **changes) -> StudyDesign:
    """Return the shipped design three-by-three with short episodes and with questionnaires."""
    data = tomllib.loads(design_text("three-by-three")) | tomllib.loads(questionnaires)
    return StudyDesign.from_dict(data | {"name": "asking", "rounds": 4, "episodes": 1} | changes)
