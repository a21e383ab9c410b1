"""The typed client on the inside: pages ask the services through it, signed for the one who looks at the page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from qisai.client import Client, Reply, Request
from qisai.client.problems import raise_problem
from qisai.errors import NotFound
from services.gateway.credentials import Credential
from services.gateway.parts import Parts
from services.gateway.routes import upstream_of


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerTransport:
    """Carries requests straight to the service that answers them, with the caller's assertion."""

    parts: Parts
    credential: Credential
    language: str = "en"

    def send(self, request: Request) -> Reply:
        """The service's answer. Raises the error that its problem stands for, or `Unavailable`."""
        upstream = upstream_of(request.method, request.path)
        if upstream is None:
            raise NotFound("not-found", f"No service answers {request.method} {request.path}.")
        target = request.path + (f"?{urlencode(request.query)}" if request.query else "")
        answer = self.parts.services[upstream].send(
            request.method,
            target,
            body=request.payload(),
            headers={
                "Accept-Language": self.language,
                **request.all_headers(),
                **self.parts.sign(self.credential, method=request.method, path=request.path),
            },
        )
        with answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            content = answer.content
        if answer.status_code >= 400:
            raise_problem(answer.status_code, headers, content)
        return Reply(status=answer.status_code, headers=headers, content=content)


def client_of(parts: Parts, credential: Credential, *, language: str = "en") -> Client:
    """A client that speaks for this credential."""
    return Client(InnerTransport(parts=parts, credential=credential, language=language))
