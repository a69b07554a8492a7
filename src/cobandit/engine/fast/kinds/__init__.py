"""Compiled forms of the agents: one file per algorithm, of the same name as its plain form in `agents`.

Each file has the kinds, NamedTuples with ``choose`` and ``learn`` (see `players` for what they are made of), and the
function that makes one from an agent, which the agent's class names in ``compiled``. Draws are taken in the same
order as in the plain form, and sums in the same order: both play the same rounds to the last bit.
"""
