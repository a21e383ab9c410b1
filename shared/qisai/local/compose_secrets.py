"""Writes the secrets that docker-compose.yml mounts: `python -m qisai.local.compose_secrets deploy/secrets`.

Made once and kept. The folder is closed to others; the files in it are not, because containers read them as users of
their own. Rotating one is removing it and running this again (and telling the database: docs/operations.md).
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

from qisai.errors import QisaiError
from qisai.local import preflight
from qisai.local.secrets import load_or_make
from qisai.settings import SERVICES


def write(folder: Path) -> None:
    """Makes what is missing in `folder`. Raises `Invalid` for a damaged file, or `OSError`."""
    kept = load_or_make(folder)
    database = "postgres:5432/qisai"
    urls = {"owner-url": f"postgresql://qisai:{quote(kept.owner_password)}@{database}"}
    for service in SERVICES:
        password = quote(kept.service_passwords[service])
        urls[f"{service}-url"] = f"postgresql://qisai_{service}:{password}@{database}"
    urls["redis-url"] = f"redis://:{quote(kept.valkey_password)}@redis:6379/0"
    for name, url in urls.items():
        (folder / name).write_text(url + "\n", encoding="ascii")
    for path in folder.iterdir():
        path.chmod(0o644)


def main() -> int:
    """Runs the command; 0 done, 2 with one line where the folder cannot be used."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "deploy/secrets")
    try:
        write(folder)
    except QisaiError as error:
        print(error.detail, file=sys.stderr)  # noqa: T201 - a command of its own
        return 2
    except OSError as error:
        print(preflight.explain(error, folder), file=sys.stderr)  # noqa: T201
        return 2
    print(f"secrets for docker-compose.yml are in {folder}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
