# BA-Agent as an image: small, not root, nothing fetched at run time. docs/install.md says how far it has been tried.
#
#     docker build -t ba-agent .
#     docker run -p 127.0.0.1:8000:8000 -v ba-data:/data \
#       --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined ba-agent
#
# The three options let the program make the namespaces that confine model-written code; without them everything works but
# Python, SQL over uploads and file reading, which refuse and say why. `docker run … ba-agent doctor` shows which.

FROM node:22-bookworm-slim AS page
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-progress --no-fund --no-audit
COPY web .
RUN npm run build

FROM rust:1.95-slim-bookworm AS program
RUN apt-get update && apt-get install -y --no-install-recommends cmake g++ make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
COPY --from=page /src/web/dist web/dist
RUN cargo build --profile dist --locked -p ba-cli && cp target/dist/ba-agent /ba-agent

# The same Python as in the last stage: an environment holds the path of its interpreter.
FROM debian:bookworm-slim AS python
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv && rm -rf /var/lib/apt/lists/*
COPY scripts/python-env python/requirements.lock /build/
COPY crates/sandbox/src/prepare /build/prepare
RUN /build/python-env --at /opt/ba-agent/python

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates python3 && rm -rf /var/lib/apt/lists/* \
  && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin ba-agent \
  && install -d -o ba-agent -g ba-agent -m 0700 /data
COPY --from=python /opt/ba-agent/python /opt/ba-agent/python
COPY --from=program /ba-agent /usr/local/bin/ba-agent
ENV BA_PYTHON_ENV=/opt/ba-agent/python BA_DATA_DIR=/data/ba-data BA_CACHE_DIR=/data/cache BA_LISTEN=0.0.0.0:8000
USER ba-agent
WORKDIR /data
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["ba-agent"]
CMD ["serve"]
