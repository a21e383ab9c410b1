"""A log-log curve as a small SVG picture, drawn by hand: no library, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10

Point = tuple[float, float]

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 30, 50
COLOURS = ("#0b7285", "#c92a2a", "#5f3dc4", "#2b8a3e")


def svg_curve(series: Mapping[str, Sequence[Point]], *, title: str, x_label: str, y_label: str) -> str:
    """SVG text of named series of (x, y), both axes logarithmic."""
    points = [point for line in series.values() for point in line]
    x_ticks = sorted({x for x, _ in points})
    low, high = _decades([y for _, y in points])
    x_range = (log10(x_ticks[0]), log10(x_ticks[-1]))

    def place(x: float, y: float) -> Point:
        across = (log10(x) - x_range[0]) / (x_range[1] - x_range[0])
        up = (log10(y) - low) / (high - low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{title}</text>',
    ]
    for power in range(low, high + 1):
        y = place(x_ticks[0], 10.0**power)[1]
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ced4da"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(10.0**power)}</text>')
    for x in x_ticks:
        across = place(x, 10.0**low)[0]
        parts.append(f'<path d="M{across:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e9ecef"/>')
        parts.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_number(x)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{x_label}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{y_label}</text>')
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        placed = [place(x, y) for x, y in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in placed)
        x, y = placed[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = log10(min(values)), log10(max(values))
    return int(low // 1), int(-(-high // 1))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
