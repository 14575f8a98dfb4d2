"""What can be taken away from a run: one JSON document, which another install reads, or one HTML page that opens without the app."""

from courtroom.report.page import as_html
from courtroom.report.run_file import as_json, as_zip

__all__ = ["as_html", "as_json", "as_zip"]
