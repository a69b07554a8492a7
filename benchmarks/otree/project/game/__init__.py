"""A live page that plays a two-armed game with a random partner: each move is stored as a row and answered."""

import random

from otree.api import BaseConstants, BaseGroup, BasePlayer, BaseSubsession, ExtraModel, Page, models

doc = "The live page that the benchmark compares with."


class C(BaseConstants):
    """Constants of the app."""

    NAME_IN_URL = "game"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    """All players."""


class Group(BaseGroup):
    """One player."""


class Player(BasePlayer):
    """A participant."""

    played = models.IntegerField(initial=0)


class Round(ExtraModel):
    """One round, with the columns that a study stores."""

    player = models.Link(Player)
    t = models.IntegerField()
    arm = models.IntegerField()
    partner_arm = models.IntegerField()
    good = models.BooleanField()
    key = models.StringField()
    ms = models.IntegerField()


def creating_session(subsession):
    """Give everybody a group of their own: a move then concerns nobody else."""
    subsession.set_group_matrix([[player.id_in_subsession] for player in subsession.get_players()])


def live_play(player, data):
    """Play one round: draw the partner's arm and the outcome, store them, answer the player."""
    move = data["moves"][0]
    partner_arm, good = random.getrandbits(1), bool(random.getrandbits(1))
    Round.create(
        player=player,
        t=move["t"],
        arm=move["arm"],
        partner_arm=partner_arm,
        good=good,
        key=move["key"],
        ms=move["ms"],
    )
    player.played = move["t"]
    shown = {"t": move["t"], "arms": [move["arm"], partner_arm], "good": good}
    return {player.id_in_group: {"episode": data["episode"], "rounds": [shown], "played": player.played}}


class Play(Page):
    """The live page."""

    live_method = live_play


page_sequence = [Play]
