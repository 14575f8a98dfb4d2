# The app with the exact versions of requirements.lock. Everything it keeps is in the volume /store.
FROM python:3.12-slim

# Films with Chinese text need a font that has its characters.
RUN apt-get update && apt-get install -y --no-install-recommends fonts-noto-cjk && rm -rf /var/lib/apt/lists/*
WORKDIR /courtroom
COPY requirements.lock ./
RUN pip install --no-cache-dir -r requirements.lock
COPY pyproject.toml README.md LICENSE app.py ./
COPY .streamlit .streamlit
COPY courtroom courtroom
COPY pages pages
COPY data data
RUN pip install --no-cache-dir --no-deps . \
    && useradd --create-home courtroom \
    && mkdir /store \
    && chown courtroom /store

USER courtroom
WORKDIR /home/courtroom
ENV COURTROOM_HOME=/store
VOLUME /store
EXPOSE 8501
HEALTHCHECK --start-period=30s --timeout=20s \
    CMD ["courtroom", "health", "--app", "http://localhost:8501"]
CMD ["courtroom", "app", "--host", "0.0.0.0", "--port", "8501", "--server.headless", "true"]
