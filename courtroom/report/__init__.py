"""What can be taken away from a run: one JSON document, or one HTML page that opens without the app."""

from courtroom.report.export import as_json
from courtroom.report.page import as_html

__all__ = ["as_html", "as_json"]
