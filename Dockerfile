# Build: wheels of Topoloom and of everything it needs.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY topoloom ./topoloom
COPY synth ./synth
COPY schedules ./schedules
COPY app ./app
COPY learning_rate ./learning_rate
COPY migrations ./migrations
COPY docs ./docs
RUN python -m venv /opt/topoloom \
 && /opt/topoloom/bin/pip install --no-cache-dir '.[postgres,otel]'

# Run: the environment alone, as a user without rights.
FROM python:3.11-slim-bookworm
RUN useradd --create-home --uid 10001 topoloom \
 && install -d -o topoloom -g topoloom /var/lib/topoloom /var/cache/topoloom
COPY --from=build /opt/topoloom /opt/topoloom
# Others reach a container: it asks for API keys, unless TOPOLOOM_AUTH=open and
# TOPOLOOM_ALLOW_OPEN=1 say otherwise (docs/how-to/run-the-service.md).
ENV PATH=/opt/topoloom/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/topoloom \
    TOPOLOOM_HOST=0.0.0.0 \
    TOPOLOOM_PORT=8765 \
    TOPOLOOM_AUTH=keys \
    TOPOLOOM_DATABASE_URL=sqlite:////var/lib/topoloom/topoloom.db
USER topoloom
WORKDIR /home/topoloom
# Machine code of every kernel is made here, not while the first user waits.
RUN ["topoloom", "cache", "warm"]
VOLUME /var/lib/topoloom
EXPOSE 8765
STOPSIGNAL SIGTERM
# By 127.0.0.1, which TOPOLOOM_TRUSTED_HOSTS must name if it names any host.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/readyz', timeout=4)"]
ENTRYPOINT ["topoloom"]
CMD ["serve"]
