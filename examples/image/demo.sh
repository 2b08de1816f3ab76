#!/bin/sh
# Starts an image server, fetches a picture from it, shows that it is one, and stops the server, which then prints its
# report: demo.sh SERVER RUNTIME
#
# RUNTIME is what --flux-runtime takes. The picture stays beside the server, as bridge.jpg.
set -eu

[ $# -eq 2 ] || { sed -n '3s/^# report: //p' "$0" >&2; exit 2; }
output=$(dirname "$1")/bridge.jpg
set -- "$1" "--flux-runtime=$2" --flux-report
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM

: >"$work/out"
"$@" --root "$here/pictures" --port 0 >"$work/out" 2>"$work/report" &
server=$!
for _ in $(seq 100); do
    base=$(sed -n 's/^image: .* at \(http:.*\)$/\1/p' "$work/out")
    [ -z "$base" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
done
[ -n "${base:-}" ] || { cat "$work/out" "$work/report" >&2; echo "demo: the server does not start" >&2; exit 1; }
echo "demo: $*"
cat "$work/out"

# fetch PATH FILE EXPECTED_STATUS
fetch() {
    got=$(curl -sS -o "$2" -w '%{http_code} %{content_type}, %{size_download} bytes in %{time_total} s' "$base$1")
    echo "demo: GET /$1: $got"
    [ "${got%% *}" = "$3" ] || { echo "demo: expected $3" >&2; exit 1; }
}
fetch 'bridge.jpg?scale=4' "$output" 200
fetch 'bridge.jpg?scale=4' "$work/again.jpg" 200
cmp "$output" "$work/again.jpg"
fetch 'missing.jpg' "$work/missing.html" 404
echo "demo: $output is $(file -b "$output")"
djpeg -pnm "$output" >"$work/bridge.ppm"
echo "demo: djpeg opens it: $(sed -n '2{p;q;}' "$work/bridge.ppm" | tr ' ' x) pixels"

kill -TERM "$server"
code=0
wait "$server" || code=$?
server=
cat "$work/report"
[ "$code" -eq 0 ] || { echo "demo: the server ended with $code" >&2; exit 1; }
