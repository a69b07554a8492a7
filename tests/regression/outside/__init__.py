"""What the package shows to the outside, recorded and compared: commands, HTTP, files, pages, public names."""
