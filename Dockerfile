# The image of the server, jackdawd, with the command line, jackdaw, beside it.
#
#   ./dev image                      builds it, with Docker or with buildah
#   docker run -p 127.0.0.1:7433:7433 jackdaw:0.1.0
#
# There is no authentication: publish the port to the loopback or a private network only.
# Commands are off unless the arguments allow some.
ARG BASE=docker.io/library/debian:12-slim

FROM ${BASE} AS build
COPY tools/packages.txt /src/tools/packages.txt
RUN apt-get update \
    && awk '$1 == "build" {print $2}' /src/tools/packages.txt \
       | DEBIAN_FRONTEND=noninteractive xargs apt-get install --yes --no-install-recommends
COPY . /src
WORKDIR /src
# The compiler's cache outlives the build, so that the next one compiles what changed.
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset release -DJACKDAW_TESTS=OFF -DJACKDAW_BENCHMARKS=OFF \
    && cmake --build --preset release --parallel "$(nproc)" --target jackdawd jackdaw \
    && cmake --install build/release --component programs --strip --prefix /installed

FROM ${BASE}
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
       libgrpc++1.51 libhwloc15 libprometheus-cpp-pull1.0 libspdlog1.10 libssl3 libyaml-cpp0.7 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log \
       /usr/share/doc/* /usr/share/locale/*
COPY --from=build /installed/bin/ /usr/bin/
# No name in /etc/passwd is needed, and none can clash with one of the base.
USER 10001:10001
# gRPC, the health service alone, metrics.
EXPOSE 7433 7434 9433
# Docker runs it inside the container; Kubernetes ignores it and has probes of its own.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["jackdaw", "health", "--server", "127.0.0.1:7434", "--deadline", "2s"]
STOPSIGNAL SIGTERM
CMD ["jackdawd", "--listen=0.0.0.0:7433", "--health=0.0.0.0:7434", "--metrics=0.0.0.0:9433"]
