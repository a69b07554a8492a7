"""The engines: a plain round loop for any agent, compiled kernels for registered ones, one entry to both."""

from cobandit.engine.diagnostics import Diagnostics
from cobandit.engine.environment import Environment, Outcome
from cobandit.engine.partner import Partner
from cobandit.engine.result import Result
from cobandit.engine.simulation import simulate
from cobandit.engine.trajectory import Trajectory

__all__ = ["Diagnostics", "Environment", "Outcome", "Partner", "Result", "Trajectory", "simulate"]
