"""The leaderboard: statistics, store, validation, pages. Knows neither models nor lmms-eval."""
