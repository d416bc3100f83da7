"""Pages as a browser shows them: ``make look``, no part of ``make test``."""
