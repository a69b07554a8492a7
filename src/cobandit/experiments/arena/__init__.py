"""The arena: who plays best with whom, in every setting, with common luck; leagues on top of experiments."""

from cobandit.experiments.arena.arena import Arena, ArenaResult, arena_settings, run_arena
from cobandit.experiments.arena.entries import FOLLOWERS, LEADERS, TEAMS, Entry
from cobandit.experiments.arena.league import FollowerRow, LeagueRow, SettingResult, Standing, follower_league
from cobandit.experiments.arena.settings import FAMILIES, SETTINGS, Setting

__all__ = [
    "FAMILIES",
    "FOLLOWERS",
    "LEADERS",
    "SETTINGS",
    "TEAMS",
    "Arena",
    "ArenaResult",
    "Entry",
    "FollowerRow",
    "LeagueRow",
    "Setting",
    "SettingResult",
    "Standing",
    "arena_settings",
    "follower_league",
    "run_arena",
]
