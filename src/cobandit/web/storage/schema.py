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
    MetaData,
    Table,
    Text,
    UniqueConstraint,
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
    Column("recruiting", Text),  # JSON: what else the recruiting service told
    Column("seed", Text),  # from here on empty until consent
    Column("order_index", Integer),
    Column("language", Text),
    Column("quiz_attempts", Integer, nullable=False),
    Column("revision", Integer, nullable=False),  # one more with every write
    Column("created_at", BigInteger, nullable=False),
    Column("consented_at", BigInteger),
    Column("last_seen", BigInteger),
    Column("finished_at", BigInteger),
    UniqueConstraint("study_id", "key"),
    UniqueConstraint("study_id", "kind", "recruiter", "external_id"),
    Index("ix_participants_study_id_kind", "study_id", "kind"),
    sqlite_autoincrement=True,  # the number of somebody deleted never becomes somebody else's
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
    Column("participant_id", ForeignKey("participants.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),  # its place in the participant's plan
    Column("condition", Text, nullable=False),
    Column("played", Integer, nullable=False),
    Column("head", Text, nullable=False),  # the hash of the latest round, kept apart from the rounds
    Column("opened_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    UniqueConstraint("participant_id", "number"),
    sqlite_autoincrement=True,
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
    Column("by", Text, nullable=False),  # an account, the server, or whoever was at the command line
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
