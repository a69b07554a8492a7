"""What the partner commands share."""

DATABASE = "sqlite:///partner.sqlite"
