"""Pure functions from recorded data to Plotly figures."""
