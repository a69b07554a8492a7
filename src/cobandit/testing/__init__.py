"""The contract every agent keeps, as checks for the authors of their own agents; pytest itself is not needed."""

from cobandit.testing.agents import RULES, AgentContract, check_agent, contract_problems

__all__ = ["RULES", "AgentContract", "check_agent", "contract_problems"]
