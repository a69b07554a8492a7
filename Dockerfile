# The server in a container: docs/how-to/deploy.md. It runs without root, and its file system may be read-only: only
# /data, /backups, /state (the head of the audit log) and /tmp are written.
ARG BASE=python:3.13-slim-bookworm

FROM ${BASE} AS build
ARG EXTRAS=web
WORKDIR /source
COPY pyproject.toml constraints.txt package.json hatch_build.py README.md LICENSE ./
COPY tools ./tools
COPY src ./src
# The scripts of the pages come from npm; without a network pages show films and static charts.
RUN python3 -m venv /opt/fetching && /opt/fetching/bin/python tools/third_party.py
RUN python3 -m venv /opt/cobandit \
    && /opt/cobandit/bin/pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]" \
    && /opt/cobandit/bin/pip uninstall --yes pip \
    && find /opt/cobandit -type d -name tests -prune -exec rm -rf {} +

FROM ${BASE}
RUN useradd --system --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin cobandit \
    && install --directory --owner=10001 --mode=0700 /data /backups /state
COPY --from=build /opt/cobandit /opt/cobandit
ENV PATH=/opt/cobandit/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/tmp/numba \
    MPLCONFIGDIR=/tmp/matplotlib \
    XDG_STATE_HOME=/state \
    COBANDIT_HOST=0.0.0.0 \
    COBANDIT_PORT=8000 \
    COBANDIT_LOG=json \
    COBANDIT_DATABASE=sqlite:////data/studies.sqlite \
    COBANDIT_DESIGNS=burger
USER 10001
WORKDIR /data
VOLUME ["/data", "/backups", "/state"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"COBANDIT_PORT\"]}/api/health', timeout=8)"]
ENTRYPOINT ["cobandit"]
CMD ["study", "serve"]
