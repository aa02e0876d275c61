#!/usr/bin/env bash
# Builds the container image jackdaw:VERSION from the Dockerfile.
#
#   image.sh            with Docker where an engine runs, else with buildah
#   image.sh --check    then checks it: its size above the base, its user, a server in it
#
# Where no base image can be pulled, buildah gets one that debootstrap makes of Debian's own
# packages, as the Debian images are made.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^project(Jackdaw VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
image=jackdaw:$version
public_base=docker.io/library/debian:12-slim
own_base=localhost/jackdaw-base:12
pull_timeout=120 # Seconds.
max_mb_above_base=60

say() { echo "image: $*" >&2; }

fail() {
  say "$1"
  exit 1
}

has_docker() { command -v docker >/dev/null && docker info >/dev/null 2>&1; }

# Makes $own_base: Debian 12 without what an image does not need.
make_base() {
  local directory container
  directory=$(mktemp -d)
  say "no base image can be pulled: making one with debootstrap"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$directory/root" \
    http://deb.debian.org/debian >"$directory/log" 2>&1 ||
    { tail -n 20 "$directory/log" >&2; fail "debootstrap failed"; }
  rm -rf "$directory"/root/var/cache/apt/* "$directory"/root/var/lib/apt/lists/* \
    "$directory"/root/usr/share/{doc,man,info,locale}/* "$directory"/root/var/log/*
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$directory/root" / >/dev/null
  buildah config --cmd /bin/bash "$container"
  buildah commit --quiet --rm "$container" "$own_base" >/dev/null
  rm -rf "$directory"
}

# Sets `base` to an image that buildah has.
choose_base() {
  base=$public_base
  if buildah inspect --type image "$base" >/dev/null 2>&1; then return; fi
  if timeout "$pull_timeout" buildah pull --quiet "$base" >/dev/null 2>&1; then return; fi
  base=$own_base
  buildah inspect --type image "$base" >/dev/null 2>&1 || make_base
}

build() {
  if has_docker; then
    docker build --build-arg BASE="$public_base" --tag "$image" "$root"
    return
  fi
  "$root/tools/setup.sh" image
  ((EUID == 0)) || fail "buildah builds here as root only (chroot isolation)"
  choose_base
  # Isolation by chroot needs neither a container runtime nor cgroups of its own.
  buildah build --isolation chroot --format docker --layers --build-arg BASE="$base" \
    --tag "$image" "$root"
}

# Bytes of an image's layers.
image_bytes() {
  if has_docker; then
    docker image inspect --format '{{.Size}}' "$1"
  else
    local container mount
    container=$(buildah from --pull-never "$1")
    mount=$(buildah mount "$container")
    du --bytes --summarize --one-file-system "$mount" | cut -f 1
    buildah rm "$container" >/dev/null
  fi
}

check_size() {
  local of_base=$public_base above
  has_docker || { choose_base && of_base=$base; }
  above=$((($(image_bytes "$image") - $(image_bytes "$of_base")) / 1000000))
  say "$above MB above its base; the limit is $max_mb_above_base"
  ((above <= max_mb_above_base)) || fail "the image is too large"
}

# A command in the image that is served already.
in_container() {
  if has_docker; then docker exec "$container" "$@"; else buildah run --isolation chroot "$container" -- "$@"; fi
}

stop_server() {
  if has_docker; then
    docker rm --force "$container" >/dev/null
  else
    if [[ -n $server ]]; then
      kill -TERM "$server" 2>/dev/null || true
      wait "$server" || true
    fi
    buildah rm "$container" >/dev/null
  fi
}

check_server() {
  local deadline=$((SECONDS + 60)) uid
  # Ports of the container with Docker; of this machine with chroot isolation, so unusual ones.
  local arguments=(jackdawd --listen=127.0.0.1:17433 --health=127.0.0.1:17434 --metrics=off)
  if has_docker; then
    container=$(docker run --detach --read-only --cap-drop ALL "$image" "${arguments[@]}")
  else
    container=$(buildah from --pull-never "$image")
    buildah run --isolation chroot "$container" -- "${arguments[@]}" &
    server=$!
  fi
  trap stop_server EXIT
  until in_container jackdaw health --server 127.0.0.1:17434 --deadline 2s; do
    ((SECONDS < deadline)) || fail "the server in the image did not answer within a minute"
  done
  uid=$(in_container id -u)
  say "a server answers in it, under uid $uid"
  [[ $uid == 10001 ]] || fail "the image must not run as $uid"
}

build
if [[ ${1:-} == --check ]]; then
  server=
  check_size
  check_server
fi
say "$image is built"
