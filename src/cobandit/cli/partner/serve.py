"""``cobandit partner serve``: the partner service and the researcher's pages, with one command."""

from __future__ import annotations

from functools import partial

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.cli.door import say
from cobandit.cli.operations import OperationOptions
from cobandit.cli.options import with_environment, with_option_groups
from cobandit.cli.partner.common import DATABASE
from cobandit.cli.study.common import AddressOptions, DatabaseUrl, Password, PasswordFile, password_given
from cobandit.cli.study.serve import BackupOptions, backup_schedule, password_notice


@with_environment
@with_option_groups
def serve(
    server: AddressOptions = AddressOptions(),
    backups: BackupOptions = BackupOptions(),
    operation: OperationOptions = OperationOptions(),
    database: DatabaseUrl = DATABASE,
    password: Password = None,
    password_file: PasswordFile = None,
) -> None:
    """Serve AI partners over HTTP.

    Programs create teams and play at /v1 with an API key (`cobandit partner keys add`). You manage keys at
    /admin/keys. All data are in one database.

    Every option can be set by an environment variable: --public-url by COBANDIT_PUBLIC_URL.
    """
    require_extras("Serving partners", web=True)
    from cobandit.web import serving
    from cobandit.web.config import WebConfig
    from cobandit.web.operations.logs import log_as_json, log_event
    from cobandit.web.storage.api_keys import all_keys
    from cobandit.web.storage.database import Database

    if server.workers > 1 and Database(database).sqlite:
        raise InvalidInput(
            f"{server.workers} workers were asked for, and SQLite has one writer: use one, or "
            "--database postgresql://..."
        )
    config = WebConfig(database=database, public_url=server.public_url, root_path=server.root_path or "", partners=True)
    operations = operation.checked()
    schedule = backup_schedule(database, backups)
    serving.wait_for_database(database, say)
    ready = serving.prepare(database, [], password=password_given(password, password_file))
    for warning in serving.durability_warnings(database):
        say(f"Warning: {warning}")
    listening = serving.bound_socket(server.host, server.port)
    address = (config.public_url or serving.address_of(listening) + config.root_path).rstrip("/")
    opened = Database(database)
    try:
        with opened.read() as connection:
            keys = len(all_keys(connection, revoked=False))
    finally:
        opened.close()
    tell = say
    if operations.log == "json":
        log_as_json()
        tell = partial(log_event, "start")
    say_stop = say if tell is say else partial(log_event, "stop")
    tell(f"cobandit partner service at {address}/v1")
    tell(f"  API:         {address}/v1/openapi.json")
    tell(f"  Keys:        {address}/admin/keys ({keys:,} valid)")
    if ready.new_password is not None:
        tell(f"  Password:    {password_notice(ready.new_password, tell is say)}")
    tell(f"  Data in      {opened.name}")
    if not keys:
        tell(f"There is no API key yet: cobandit partner keys add LABEL --scope admin --database {opened.name}")
    tell("Stop with Ctrl-C.")
    serving.serve(config, listening, server.workers, schedule, operations=operations)
    say_stop("Stopped; everything is stored.")
