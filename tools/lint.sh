#!/usr/bin/env bash
# Every check that needs no running program. Goes through all of them and fails at the end,
# so that one run shows everything.
#
#   lint.sh                all
#   lint.sh NAME...        some: format tidy shell yaml proto prometheus json python
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# Prints the files of the tree that match the patterns, whether committed yet or not.
files() { git ls-files --cached --others --exclude-standard --deduplicate -- "$@" | existing; }
existing() { while read -r file; do [[ -e $file ]] && echo "$file"; done; }

check_format() { files '*.h' '*.cc' | xargs --no-run-if-empty clang-format --dry-run --Werror; }

# clang-tidy sees what clang's own warnings say too: -Wthread-safety among them.
check_tidy() {
  cmake --preset tidy >/dev/null || return 1
  # Only the generated headers are needed.
  cmake --build --preset tidy --target cmake_object_order_depends_target_jackdaw_proto \
    >/dev/null || return 1
  tools/clang_tidy.py build/tidy
}

check_shell() {
  { files '*.sh' && grep -lE '^#!.*\b(ba)?sh$' dev .ci/*; } | xargs shellcheck
}

check_yaml() { files '*.yaml' '*.yml' '*.clang-format' '*.clang-tidy' | xargs yamllint --strict; }

check_proto() {
  local buf=build/npm/node_modules/.bin/buf tag
  "$buf" lint || return 1
  tag=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) || return 0
  "$buf" breaking --against ".git#tag=$tag"
}

check_prometheus() {
  promtool check rules deploy/prometheus/alerts.yaml &&
    promtool check config --syntax-only deploy/prometheus/prometheus.yaml
}

check_json() { files '*.json' | while read -r file; do jq empty "$file" || return 1; done; }

check_python() { files '*.py' | xargs python3 tools/check_python.py; }

checks=("$@")
((${#checks[@]} > 0)) || checks=(format shell yaml proto prometheus json python tidy)
failed=()
for name in "${checks[@]}"; do
  echo "lint: $name"
  "check_$name" || failed+=("$name")
done
if ((${#failed[@]} > 0)); then
  echo "lint: failed: ${failed[*]}" >&2
  exit 1
fi
echo "lint: clean"
