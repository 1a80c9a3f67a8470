"""SQL files to versions: tables as statements make and change them, column types by dialect."""
