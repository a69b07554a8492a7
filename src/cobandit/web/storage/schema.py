"""The tables. Rounds, answers and events are only ever added; what changes is where a participant stands.

Times are whole milliseconds since 1970, UTC. Seeds have 128 bits and are kept as decimal text. Whatever belongs to a
participant goes with the participant when it is deleted.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("design", Text, nullable=False),  # JSON, as StudyDesign.to_dict gives it
    Column("seed", Text, nullable=False),
    Column("secret", Text),  # goes into means that all share; empty in studies from before it was there
    Column("code", Text, nullable=False),
    Column("status", Text, nullable=False),  # open, invite-only, quota, closed
    Column("quota", Integer),  # how many the study takes; goes with the status quota
    Column("arrivals", Integer, nullable=False),  # people ever counted in, deleted ones too
    Column("versions", Text, nullable=False),  # JSON: cobandit, numpy
    Column("created_at", BigInteger, nullable=False),
    Column("plan", Text),  # the analysis plan, TOML
    Column("plan_digest", Text),  # fixed when the first participant starts
    Column("plan_fixed_at", BigInteger),
    UniqueConstraint("name", "version"),
)

participants = Table(
    "participants",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study_id", ForeignKey("studies.id", ondelete="CASCADE"), nullable=False),
    Column("public_id", Text, nullable=False, unique=True),  # the pseudonym in every export
    Column("token", Text, nullable=False, unique=True),  # the personal link; never exported
    Column("key", Text),  # made by the page that created the participant
    Column("kind", Text, nullable=False),  # real, rehearsal, demo
    Column("label", Text),
    Column("recruiter", Text),
    Column("external_id", Text),
    Column("recruiting", Text),  # JSON: further parameters of the recruiting service
    Column("seed", Text),  # from here on empty until consent
    Column("order_index", Integer),
    Column("language", Text),
    Column("quiz_attempts", Integer, nullable=False),
    Column("revision", Integer, nullable=False),  # one more with every write
    Column("created_at", BigInteger, nullable=False),
    Column("consented_at", BigInteger),
    Column("last_seen", BigInteger),
    Column("finished_at", BigInteger),
    Column("ending", Text),  # screened-out, withdrew, or removed by a researcher; empty for all others
    UniqueConstraint("study_id", "key"),
    UniqueConstraint("study_id", "kind", "recruiter", "external_id"),
    Index("ix_participants_study_id_kind", "study_id", "kind"),
    sqlite_autoincrement=True,  # the number of a deleted participant is never used again
)

withdrawals = Table(
    "withdrawals",
    metadata,
    Column("digest", Text, primary_key=True),  # of the personal link; nothing here tells who it was
    Column("study_id", ForeignKey("studies.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("data", Text, nullable=False),  # deleted, anonymised
    Column("outcome", Text, nullable=False),  # withdrew, or the outcome that the person had before
    Column("code", Text, nullable=False),  # empty: there is none
    Column("currency", Text),  # from here on empty where the design has no rules of payment
    Column("fixed", Text),
    Column("bonus", Text),
    Column("return_url", Text),
    Column("language", Text),
)

answers = Table(
    "answers",
    metadata,
    Column("participant_id", ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("step", Text, primary_key=True),
    Column("answers", Text, nullable=False),  # JSON
    Column("at", BigInteger, nullable=False),
    Column("ms", Integer),
)

episodes = Table(
    "episodes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant_id", ForeignKey("participants.id", ondelete="CASCADE")),  # empty where a team plays it
    Column("number", Integer, nullable=False),  # its place in the participant's plan
    Column("condition", Text, nullable=False),
    Column("played", Integer, nullable=False),
    Column("head", Text, nullable=False),  # the hash of the latest round, kept apart from the rounds
    Column("opened_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("team_id", ForeignKey("teams.id", ondelete="CASCADE")),
    Column("round_at", BigInteger),  # when the current round of a team began
    Column("deadline", BigInteger),  # when members who have not moved are taken over
    UniqueConstraint("participant_id", "number"),
    UniqueConstraint("team_id", "number"),
    Index("ix_episodes_deadline", "deadline"),
    sqlite_autoincrement=True,
)

teams = Table(
    "teams",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study_id", ForeignKey("studies.id", ondelete="CASCADE"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("public_id", Text, nullable=False, unique=True),
    Column("seed", Text, nullable=False),
    Column("order_index", Integer, nullable=False),
    Column("roster", Text, nullable=False),  # SHA-256 over the keyed marks of the members
    Column("revision", Integer, nullable=False),  # one more with everything that members may see
    Column("formed_at", BigInteger, nullable=False),
    Column("meet_by", BigInteger),  # when members who are late for an episode have left
    Index("ix_teams_study_id_kind", "study_id", "kind"),
    Index("ix_teams_meet_by", "meet_by"),
    sqlite_autoincrement=True,
)

members = Table(
    "members",
    metadata,
    Column("team_id", ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("participant_id", ForeignKey("participants.id", ondelete="SET NULL"), unique=True),
    Column("arrived", Integer, nullable=False),  # the latest episode of the team that the member has reached, from -1
    Column("left_at", BigInteger),  # when the seat was taken over for good
    Column("left_episode", Integer),
    Column("left_reason", Text),  # timeout, absent, partner, researcher, withdrew, deleted, short
)

lobby = Table(
    "lobby",
    metadata,
    Column("participant_id", ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("study_id", ForeignKey("studies.id", ondelete="CASCADE"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("joined_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
    Column("ready_at", BigInteger, nullable=False),  # when the person last showed that they are there
    Column("asked_at", BigInteger),  # when they were asked whether they are
    Column("until", BigInteger, nullable=False),  # when the wait is over
    Index("ix_lobby_study_id_kind", "study_id", "kind"),
    Index("ix_lobby_until", "until"),
)

moves = Table(
    "moves",
    metadata,
    Column("episode_id", ForeignKey("episodes.id", ondelete="CASCADE"), primary_key=True),
    Column("t", Integer, primary_key=True, autoincrement=False),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("arm", Integer, nullable=False),
    Column("by", Text, nullable=False),  # person, service, takeover
    Column("key", Text),  # the page's own name for the move; empty where no page made it, or the person was deleted
    Column("at", BigInteger),
    Column("ms", Integer),
    Column("previous", Text, nullable=False),  # the head of the log on which the move was made
    Column("evidence", Text),
    UniqueConstraint("episode_id", "seat", "key"),
)

move_records = Table(
    "move_records",
    metadata,
    Column("episode_id", ForeignKey("episodes.id", ondelete="CASCADE"), primary_key=True),
    Column("t", Integer, primary_key=True, autoincrement=False),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),  # JSON: what a service was asked and answered
)

rounds = Table(
    "rounds",
    metadata,
    Column("episode_id", ForeignKey("episodes.id", ondelete="CASCADE"), primary_key=True),
    Column("t", Integer, primary_key=True),
    Column("arms", Text, nullable=False),  # JSON, like the next two: a list over the seats
    Column("reward", Float, nullable=False),
    Column("seen", Text, nullable=False),
    Column("predictions", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("key", Text, nullable=False),  # the page's own name for the move: a retry has the same
    Column("at", BigInteger, nullable=False),
    Column("ms", Integer),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant_id", ForeignKey("participants.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),  # JSON
    Column("key", Text),  # the page's own name for it: a retry has the same
    Index("ix_events_participant_id_key", "participant_id", "key", unique=True),
)

messages = Table(
    "messages",
    metadata,
    Column("participant_id", ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("shown_at", BigInteger),  # the row goes when the participant dismisses the message; the events stay
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),  # the public part of the key
    Column("tenant", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("scope", Text, nullable=False),  # read, play, admin
    Column("rate", Integer, nullable=False),  # requests a second
    Column("digest", Text, nullable=False),  # SHA-256 of the whole key, which is stored nowhere
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
)

partner_teams = Table(
    "partner_teams",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("setting", Text, nullable=False),  # JSON, as services.partner.settings reads it
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("tenant", "name"),
    sqlite_autoincrement=True,
)

partner_games = Table(
    "partner_games",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("team_id", ForeignKey("partner_teams.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("seed", Text, nullable=False),
    Column("origin", Text),  # JSON: the state that the game was imported from
    Column("snapshot", Text),  # JSON: the state after a number of entries, so that few are replayed
    Column("snapshot_number", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("team_id", "name"),
    sqlite_autoincrement=True,
)

partner_log = Table(
    "partner_log",
    metadata,
    Column("game_id", ForeignKey("partner_games.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1, without gaps
    Column("round", Integer, nullable=False),
    Column("kind", Text, nullable=False),  # open, action, reward, round
    Column("at", BigInteger, nullable=False),
    Column("arm", Integer, nullable=False),  # the partner's choice in this round
    Column("predictions", Text),  # JSON: the arms that it foresaw, by seat
    Column("action", Text),  # JSON: a list over the seats
    Column("reward", Float),
    Column("event", Text),  # the app's own name for the round
    Column("key", Text),  # the client's name for the request: a retry has the same
    Index("ix_partner_log_game_id_round", "game_id", "round"),
    Index(
        "ix_partner_log_game_id_event",
        "game_id",
        "event",
        unique=True,
        sqlite_where=text("event IS NOT NULL"),
        postgresql_where=text("event IS NOT NULL"),
    ),
    sqlite_with_rowid=False,
)

admin_logins = Table(
    "admin_logins",
    metadata,
    Column("digest", Text, primary_key=True),  # of the token in the cookie, so that the table opens no door
    Column("expires_at", BigInteger, nullable=False),
    Column("account", Text, nullable=False, server_default="owner"),
    Column("created_at", BigInteger, nullable=False, server_default="0"),
    Column("via", Text, nullable=False, server_default=""),  # page, program
    Column("network", Text, nullable=False, server_default=""),  # four digits, no address
)

known_browsers = Table(
    "known_browsers",
    metadata,
    Column("digest", Text, primary_key=True),  # of the random value in the browser's cookie
    Column("account", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),  # when the account last logged in there
)

accounts = Table(
    "accounts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),  # owner, researcher, assistant
    Column("password", Text),  # scrypt; the owner's stands among the settings
    Column("code_key", Text),  # of one-time codes; empty: none are asked for
    Column("code_step", BigInteger, nullable=False),  # the half minute of the last code that was used
    Column("recovery", Text, nullable=False),  # JSON: SHA-256 of codes that were not used yet
    Column("created_at", BigInteger, nullable=False),
)

failed_logins = Table(
    "failed_logins",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("address", Text, nullable=False, index=True),
    Column("at", BigInteger, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),  # without gaps, from 1
    Column("at", BigInteger, nullable=False),
    Column("by", Text, nullable=False),  # an account, the server, or the user at the command line
    Column("action", Text, nullable=False),
    Column("study", Text),
    Column("details", Text, nullable=False),  # JSON; nothing of participants but pseudonyms, for it stays
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),  # 1: there is one row
    Column("number", Integer, nullable=False),
    Column("hash", Text, nullable=False),  # of the last entry, so that a log that was cut is noticed
)

settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

drafts = Table(
    "drafts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),  # of the study, as the text last said it
    Column("base_version", Integer),  # the version that the draft began with, or was published as
    Column("revision", Integer, nullable=False),  # one more with every save
    Column("updated_by", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    sqlite_autoincrement=True,  # the address of a deleted draft is never used again
)

draft_revisions = Table(
    "draft_revisions",
    metadata,
    Column("draft_id", ForeignKey("drafts.id", ondelete="CASCADE"), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("text", Text, nullable=False),  # TOML, with its comments
    Column("by", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

media = Table(
    "media",
    metadata,
    Column("sha256", Text, primary_key=True),  # of the content
    Column("type", Text, nullable=False),  # image/png, video/mp4, ...
    Column("content", LargeBinary, nullable=False),
    Column("added_at", BigInteger, nullable=False),
)
