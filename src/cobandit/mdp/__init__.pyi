from cobandit.mdp.agents.base import MarkovAgent as MarkovAgent
from cobandit.mdp.agents.base import MarkovBriefing as MarkovBriefing
from cobandit.mdp.agents.base import MarkovController as MarkovController
from cobandit.mdp.agents.lookup import agent_class as agent_class
from cobandit.mdp.agents.lookup import make_agent as make_agent
from cobandit.mdp.agents.registry import *  # noqa: F403
from cobandit.mdp.agents.registry import AGENTS as AGENTS
from cobandit.mdp.dynamics import Dynamics as Dynamics
from cobandit.mdp.dynamics import GivenDynamics as GivenDynamics
from cobandit.mdp.files import load_problem as load_problem
from cobandit.mdp.files import parse_problem as parse_problem
from cobandit.mdp.library import DYNAMICS as DYNAMICS
from cobandit.mdp.library import BoxPush as BoxPush
from cobandit.mdp.library import BurgerLine as BurgerLine
from cobandit.mdp.library import Chain as Chain
from cobandit.mdp.library import DelayedChain as DelayedChain
from cobandit.mdp.library import RandomDynamics as RandomDynamics
from cobandit.mdp.library import SameDoor as SameDoor
from cobandit.mdp.model import MarkovProblem as MarkovProblem
from cobandit.mdp.model import make_problem as make_problem
from cobandit.mdp.planning import Values as Values
from cobandit.mdp.planning import World as World
from cobandit.mdp.planning import optimal_values as optimal_values
from cobandit.mdp.planning import policy_value as policy_value
from cobandit.mdp.result import MarkovResult as MarkovResult
from cobandit.mdp.simulation import run_trajectory as run_trajectory
from cobandit.mdp.simulation import simulate as simulate
from cobandit.mdp.team import Team as Team
from cobandit.mdp.trajectory import MarkovTrajectory as MarkovTrajectory

__all__: list[str]
