"""The curve from first ballot to verdict, of these runs beside people."""

import plotly.graph_objects as go

from courtroom.evaluation.yardstick import Yardstick
from courtroom.figures.layout import NEUTRAL, error_bars, framed, tone
from courtroom.language import _


def draw_yardstick(found: Yardstick, theme: str = "light") -> go.Figure:
    """Share of the verdicts for the side that has to prove its case by its votes in the first ballot, with Wilson's 95 % intervals."""
    figure = go.Figure()
    sizes = sorted({point.size for point in found.curve})
    for number, size in enumerate(sizes):
        for of_people in (True, False):
            points = [
                (point, one) for point in found.curve if point.size == size and (one := point.interval(of_people))
            ]
            colour = NEUTRAL[theme] if of_people else tone(number, theme)
            whose = _("people") if of_people else _("these runs")
            figure.add_scatter(
                x=[point.votes / size for point, _one in points],
                y=[one.value for _point, one in points],
                mode="lines+markers",
                name=f"{whose}, {size}" if len(sizes) > 1 else whose,
                line={"color": colour, "width": 2, "dash": "dot" if of_people else "solid"},
                marker={"size": 9, "color": colour, "symbol": "square" if of_people else "circle"},
                error_y=error_bars([one for _point, one in points], colour),
                customdata=[
                    [point.votes, size, point.people_n if of_people else point.n, one.low, one.high]
                    for point, one in points
                ],
                hovertemplate="%{customdata[0]} / %{customdata[1]}: %{y:.0%} (%{customdata[3]:.0%} – %{customdata[4]:.0%}), n = %{customdata[2]}",
            )
    size = sizes[-1] if sizes else 12
    figure.update_xaxes(
        title_text=_("first votes for the side that has to prove its case"),
        tickvals=[votes / size for votes in range(size + 1)],
        ticktext=[f"{votes}" for votes in range(size + 1)],
        range=[-0.04, 1.04],
    )
    figure.update_yaxes(title_text=_("verdicts for it"), tickformat=".0%", range=[-0.04, 1.04])
    return framed(figure, theme, 460)
