"""How Alembic reaches the database: through the connection that it is handed."""

from alembic import context

from cobandit.web.storage.schema import metadata

with context.config.attributes["connection"].begin():
    context.configure(
        connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True
    )
    with context.begin_transaction():
        context.run_migrations()
