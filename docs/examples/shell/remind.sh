#!/bin/bash
# Sets a reminder, waits until it fires, and says that it is done. Needs socat and jq.
set -euo pipefail

socket=${CHIME_SOCKET:-${XDG_RUNTIME_DIR:-/run/user/$UID}/chime/io.chime}

# call METHOD PARAMETERS: one call and its reply. The end of input does not end the conversation: the reply comes first.
call() {
  jq --null-input --compact-output --arg method "$1" --argjson parameters "$2" '{$method, $parameters}' | tr '\n' '\0' |
    socat -t 30 - "UNIX-CONNECT:$socket" | tr '\0' '\n' |
    jq --compact-output 'if .error then error("\(.error) \(.parameters)") else .parameters end'
}

# A stream, whose connection stays open for as long as this script runs. Its first message says that it has begun, so
# nothing that happens from then on is missed.
coproc events {
  { printf '{"method": "io.chime.Daemon.Monitor", "more": true}\0'; cat; } |
    socat - "UNIX-CONNECT:$socket" | stdbuf -o0 tr '\0' '\n'
}
IFS= read -r -u "${events[0]}" _

# The token makes it safe to try again: the same one gives the first answer.
draft='{"title": "Stretch", "when": "in 2s", "tags": ["example"]}'
reminder=$(call io.chime.Reminders.Add "{\"reminder\": $draft, \"token\": \"stretch-$$\"}" | jq .reminder)
id=$(jq --raw-output .id <<<"$reminder")
jq --raw-output '"added \(.id): \(.when), next \(.next.at)"' <<<"$reminder"

call io.chime.Reminders.List '{"filter": {"tag": "example"}}' |
  jq --raw-output '.reminders[] | "listed \(.id): \(.title)"'

while IFS= read -r -u "${events[0]}" message; do
  fired=$(jq --raw-output --arg id "$id" \
    '.parameters.events[] | select(.event == "fired" and .reminder == $id) | .occurrence' <<<"$message")
  [[ -z $fired ]] || break
done
echo "fired $fired"

call io.chime.Occurrences.Done "{\"id\": \"$id\"}" | jq --raw-output '.occurrence | "\(.state) at \(.endedAt.at)"'
