from cobandit.interop.policies import Play as Play
from cobandit.interop.policies import TeamPolicy as TeamPolicy
from cobandit.interop.policies import play_env as play_env
from cobandit.interop.seat_env import SeatEnv as SeatEnv
from cobandit.interop.seat_vector_env import SeatVectorEnv as SeatVectorEnv
from cobandit.interop.team_env import TeamEnv as TeamEnv

__all__: list[str]
