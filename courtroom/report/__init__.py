"""What can be taken away from a run: a JSON document, an HTML page, its transcript as Markdown or Word, its votes."""

from courtroom.report.page import as_html
from courtroom.report.run_file import as_json, as_zip
from courtroom.report.transcript import as_docx, as_markdown, methods, votes_in_long_form

__all__ = ["as_docx", "as_html", "as_json", "as_markdown", "as_zip", "methods", "votes_in_long_form"]
