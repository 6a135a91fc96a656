"""The command line: ``main`` dispatches, a module a command, each imported only when called."""
