"""The pairing service: a Celery worker that claims jobs and solves them in a child process, and its keeper."""
