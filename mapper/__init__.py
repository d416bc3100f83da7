"""The application: runner, store, MARL mapper, comparison, command line."""
