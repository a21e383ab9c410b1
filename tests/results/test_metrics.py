"""What is counted of HTTP: by route and kind of answer, with no label that callers could make up."""

from __future__ import annotations

from tests.results.conftest import Service


def counted(service: Service) -> list[str]:
    lines = service.app.test_client().get("/metrics").get_data(as_text=True).splitlines()
    return [line for line in lines if line.startswith("qisai_http_requests_total{")]


def test_made_up_methods_and_paths_are_counted_together(service: Service) -> None:
    """Pins the list of methods: each label of its own would stay in memory for ever."""
    client = service.app.test_client()
    for number in range(3):
        assert client.open(f"/nowhere/{number}", method=f"MADEUP{number}").status_code == 404
        assert client.open("/api/v1/events/1/standings", method=f"MADEUP{number}").status_code == 405
    found = [line for line in counted(service) if 'method="other"' in line]
    assert [line.rpartition(" ")[2] for line in found] == ["6.0"]
    assert not any("MADEUP" in line for line in counted(service))


def test_a_request_is_counted_under_its_route(service: Service) -> None:
    assert service.public().get("/api/v1/events/999999/standings").status_code == 404
    assert any('route="/api/v1/events/<int:event_id>/standings",' in line for line in counted(service))
