#!/usr/bin/env bash
# Installs what is missing: setup.sh GROUP...  (groups of tools/packages.txt).
#
# Asks dpkg first and does nothing when all is there. Installs with apt as root or through
# sudo; where it cannot, it names the missing packages and fails. The npm packages of
# tools/npm go to build/npm, exactly as the lock file says.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Prints the packages of the groups named that this machine lacks, one a line.
missing_packages() {
  local wanted=" $* " group package command
  while read -r group package command; do
    [[ -n $group && $group != \#* && $wanted == *" $group "* ]] || continue
    if [[ -n $command ]] && command -v "$command" >/dev/null; then continue; fi
    is_installed "$package" || echo "$package"
  done <"$root/tools/packages.txt" | sort -u
}

explain_missing() {
  {
    echo "setup: $1 These Debian packages are missing:"
    printf '  %s\n' "${missing[@]}"
    echo "Install them (apt-get install --no-install-recommends PACKAGE...) and try again."
  } >&2
  exit 1
}

# Runs a command as root.
as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

install_packages() {
  command -v apt-get >/dev/null || explain_missing "There is no apt-get here."
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    explain_missing "Installing needs root, or sudo."
  fi
  echo "setup: installing ${#missing[@]} packages: ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get update --quiet --quiet ||
    echo "setup: the package lists could not be refreshed; trying with those there are" >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install --quiet --quiet --yes --no-install-recommends "${missing[@]}" >&2 ||
    explain_missing "apt-get failed."
  # The tests start Prometheus themselves; the package's own service is not wanted for them.
  if [[ " ${missing[*]} " == *" prometheus "* && -d /run/systemd/system ]]; then
    as_root systemctl disable --now --quiet prometheus.service || true
  fi
}

# Brings build/npm to what the lock file says, unless it is there already.
install_npm() {
  local target=$root/build/npm wanted
  wanted=$(cat "$root"/tools/npm/package*.json | sha256sum)
  [[ -f $target/installed && $(<"$target/installed") == "$wanted" ]] && return
  mkdir -p "$target"
  cp "$root"/tools/npm/package*.json "$target/"
  echo "setup: installing the npm packages of tools/npm into build/npm" >&2
  npm ci --prefix "$target" --no-audit --no-fund --loglevel=error >&2
  echo "$wanted" >"$target/installed"
}

mapfile -t missing < <(missing_packages "$@")
if ((${#missing[@]} > 0)); then
  install_packages
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) || explain_missing "apt-get ended well, and yet."
fi
case " $* " in *" test "* | *" lint "*) install_npm ;; esac
