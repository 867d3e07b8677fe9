#!/bin/bash
# Receives webhooks of Chime and believes none that does not verify. Needs socat, openssl and jq.
#
#   bash receive.sh SECRET_FILE PORT
#
# SECRET_FILE has the secret that `chime endpoint add NAME URL --new-secret SECRET_FILE` wrote: whsec_ and base64.
set -euo pipefail

if [[ ${1:-} != --one ]]; then
  [[ $# == 2 ]] || { echo "usage: receive.sh SECRET_FILE PORT" >&2; exit 64; }
  # By way of the environment: no sign in a path has a meaning of its own there. socat takes the backslashes away.
  export RECEIVER=$(realpath "$0") SECRET_FILE=$1
  exec socat "TCP-LISTEN:$2,bind=127.0.0.1,reuseaddr,fork" 'SYSTEM:bash \"$RECEIVER\" --one'
fi

# One request, on standard input; its answer goes to standard output, and what it says to standard error.
secret=$(sed -n '1s/[[:space:]].*//; 1p' "$SECRET_FILE")
declare -A header
read -r _
while IFS=': ' read -r name value && [[ $name != $'\r' && -n $name ]]; do
  header[${name,,}]=${value%$'\r'}
done
body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c "${header[content-length]:-0}" >"$body"

answer() { printf 'HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n' "$1"; exit; }

# Standard Webhooks: HMAC-SHA256 over id.timestamp.body, and not older or newer than five minutes.
timestamp=${header[webhook-timestamp]:-0}
[[ $timestamp =~ ^[0-9]+$ ]] && ((timestamp > EPOCHSECONDS - 300 && timestamp < EPOCHSECONDS + 300)) || answer '401 Unauthorized'
key=$(printf %s "${secret#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
expected=$({ printf '%s.%s.' "${header[webhook-id]:-}" "$timestamp"; cat "$body"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
[[ " ${header[webhook-signature]:-} " == *" v1,$expected "* ]] || answer '401 Unauthorized'

jq --raw-output '"\(.type): \(.data.title // "")"' "$body" >&2
answer '204 No Content'
