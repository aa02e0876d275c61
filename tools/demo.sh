#!/usr/bin/env bash
# Starts a server of its own, runs a real graph on it and shows what its workers did:
# demo.sh BUILD_DIRECTORY. Ends the server also when it fails or is interrupted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
jackdawd=$build/server/jackdawd
jackdaw=$build/client/cli/jackdaw
directory=$(mktemp -d)
server=

clean_up() {
  if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "demo: $1" >&2
  [[ -f $directory/log ]] && cat "$directory/log" >&2
  exit 1
}

# Waits until the server says where its metrics are; it has bound everything by then.
await_metrics_url() {
  local deadline=$((SECONDS + 30))
  until metrics_url=$(grep --only-matching --max-count=1 'http://[^ ]*/metrics' "$directory/log"); do
    kill -0 "$server" 2>/dev/null || fail "the server ended at once:"
    ((SECONDS < deadline)) || fail "the server did not start within 30 seconds:"
    sleep 0.05
  done
}

say "A server on a Unix socket, its metrics on a free port: jackdawd --allow-commands"
: >"$directory/log"
# A session leader hears no Ctrl-C from the terminal: the client shall cancel the job first.
setsid "$jackdawd" --listen "unix:$directory/jackdaw.sock" --metrics 127.0.0.1:0 \
  --allow-commands >"$directory/log" 2>&1 &
server=$!
await_metrics_url
cat "$directory/log"

say "The graph: jackdaw run examples/licenses.yaml"
export JACKDAW_SERVER=unix:$directory/jackdaw.sock
"$jackdaw" run examples/licenses.yaml || fail "the job did not succeed"

say "What the workers did: $metrics_url"
curl --silent --show-error --fail --max-time 10 "$metrics_url" >"$directory/metrics" ||
  fail "no metrics"
grep -E '^jackdaw_worker_' "$directory/metrics"

say "The same as a table: jackdaw workers"
"$jackdaw" workers

say "The server ends: SIGTERM"
kill -TERM "$server"
status=0
wait "$server" || status=$?
server=
tail -n 2 "$directory/log"
((status == 0)) || fail "the server ended with status $status:"
