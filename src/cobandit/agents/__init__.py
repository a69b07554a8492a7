"""The agents: one algorithm per file, in the order of the paper's pseudocode, and a literal registry."""

from cobandit.agents.base import Agent as Agent
from cobandit.agents.base import Briefing as Briefing
from cobandit.agents.base import Controller as Controller
from cobandit.agents.base import TeamAction as TeamAction
from cobandit.agents.human import Human as Human
from cobandit.agents.lookup import agent_class as agent_class
from cobandit.agents.lookup import known_agents as known_agents
from cobandit.agents.lookup import make_agent as make_agent
from cobandit.agents.lookup import plugin_agents as plugin_agents
from cobandit.agents.lookup import plugin_class as plugin_class
from cobandit.agents.registry import *  # noqa: F403
from cobandit.agents.registry import AGENTS as AGENTS
from cobandit.agents.team import Team as Team
from cobandit.agents.team import TeamLike as TeamLike
from cobandit.base.lazy import renamed_names

__getattr__ = renamed_names(__name__, {"BankFollower": "Bank"})
