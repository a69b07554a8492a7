"""The contracts as checks, for authors of agents, means, rewards and observation models.

A broken rule raises `AgentError` or `ModelError` with one sentence about the observation and the requirement. pytest
itself is not required.
"""

from cobandit.testing.agents import RULES, AgentContract, check_agent, contract_problems
from cobandit.testing.compiled import check_compiled, compiled_problems
from cobandit.testing.models import check_means, check_observation, check_reward

__all__ = [
    "RULES",
    "AgentContract",
    "check_agent",
    "check_compiled",
    "check_means",
    "check_observation",
    "check_reward",
    "compiled_problems",
    "contract_problems",
]
