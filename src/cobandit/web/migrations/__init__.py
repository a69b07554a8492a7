"""How the tables came to be: Alembic runs what a database has not seen yet."""
