"""Settings of a minimal oTree project with one live page."""

SESSION_CONFIGS = [{"name": "game", "app_sequence": ["game"], "num_demo_participants": 1}]
SESSION_CONFIG_DEFAULTS = {"real_world_currency_per_point": 1.0, "participation_fee": 0.0, "doc": ""}
PARTICIPANT_FIELDS: list[str] = []
SESSION_FIELDS: list[str] = []
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "EUR"
USE_POINTS = True
ADMIN_USERNAME = "admin"
ADMIN_PASSWORD = "only for this benchmark"
SECRET_KEY = "only for this benchmark"
