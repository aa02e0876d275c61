#!/usr/bin/env bash
# Runs the benchmarks of a build directory, each beside its baselines:
# bench.sh BUILD_DIRECTORY [scheduler|service|simulation]...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
shift
(($# > 0)) || set -- scheduler service simulation

# What `./dev plot` draws.
export JACKDAW_BENCH_RECORD=$build/bench.jsonl
: >"$JACKDAW_BENCH_RECORD"

run() {
  echo
  echo "== $*"
  "$@"
}

echo "machine: $(nproc) CPUs, $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)"
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
for part in "$@"; do
  case $part in
    scheduler)
      for program in "$build"/bench/scheduler/*_bench; do run "$program"; done
      ;;
    service)
      # These start a server each.
      for program in "$build"/bench/service/*_bench; do
        run "$program" "$build/server/jackdawd"
      done
      ;;
    simulation) run "$build"/bench/simulation/simulation ;;
    *)
      echo "bench: no such part: $part (scheduler, service, simulation)" >&2
      exit 2
      ;;
  esac
done
