# docker build -t highwater .        (docs/how-to/serving.md says how to run it)
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev python3-dev python3-venv
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir uv==0.13.9
ENV UV_PROJECT_ENVIRONMENT=/opt/highwater UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy UV_NO_CACHE=1
WORKDIR /source
# What is locked changes seldom, and is large: a layer of its own.
COPY pyproject.toml uv.lock ./
RUN /opt/uv/bin/uv sync --locked --extra postgres --no-install-project --compile-bytecode
COPY LICENSE README.md ./
COPY app app
COPY engine engine
COPY static static
COPY templates templates
COPY setup.py ./
# The engine is compiled: its hot modules are C.
RUN HIGHWATER_COMPILE=1 /opt/uv/bin/uv sync --locked --extra postgres --no-editable --compile-bytecode
RUN /opt/uv/bin/uv export --quiet --locked --extra postgres --format cyclonedx1.5 --output-file /opt/highwater/sbom.cdx.json

FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 fonts-dejavu-core fonts-wqy-microhei \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/highwater --create-home highwater
COPY --from=build /opt/highwater /opt/highwater
USER highwater
WORKDIR /var/lib/highwater
VOLUME /var/lib/highwater
ENV PATH=/opt/highwater/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    HIGHWATER_HOST=0.0.0.0 \
    HIGHWATER_PORT=8000 \
    HIGHWATER_INSTANCE=/var/lib/highwater
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python3", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['HIGHWATER_PORT'] + '/health', timeout=4)"]
CMD ["highwater", "serve"]
