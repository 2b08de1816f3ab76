#!/bin/sh
# That curl, ab and wrk are content with the image server: clients_test.sh BASE_URL, against one that is running.
set -eu

[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
base=${1%/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM

fail() {
    echo "clients_test: $*" >&2
    exit 1
}

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# number_after LABEL FILE: the first number on the line of ab's report that starts with LABEL
number_after() {
    sed -n "s/^ *$1: *\([0-9]*\).*/\1/p" "$2" | head -n 1
}

name=$(curl -sS --fail "$base/" | sed -n 's|.*href="/\([^"?]*\)?scale=1".*|\1|p' | head -n 1)
[ -n "$name" ] || fail "the server lists no pictures"
picture="$base/$name?scale=1"

# curl
expect "status and type" "200 image/jpeg" \
    "$(curl -sS -o "$work/one.jpg" -w '%{http_code} %{content_type}' "$picture")"
djpeg "$work/one.jpg" >"$work/one.ppm" || fail "djpeg does not open the picture"
expect "a JPEG" "image/jpeg" "$(file -b --mime-type "$work/one.jpg")"
expect "HEAD" "200 0" "$(curl -sS -I -o "$work/head" -w '%{http_code} %{size_download}' "$picture")"
expect "the length that HEAD tells" "$(wc -c <"$work/one.jpg")" \
    "$(tr -d '\r' <"$work/head" | sed -n 's/^Content-Length: //p')"
expect "a missing picture" "404" "$(curl -sS -o "$work/missing" -w '%{http_code}' "$base/missing.jpg")"
expect "a way out of the folder" "404" \
    "$(curl -sS --path-as-is -o "$work/outside" -w '%{http_code}' "$base/../../etc/passwd")"
grep -q root: "$work/outside" && fail "it gives away /etc/passwd"
expect "a bad scale" "400" "$(curl -sS -o "$work/bad" -w '%{http_code}' "$base/$name?scale=9")"
expect "POST" "405" "$(curl -sS -o "$work/post" -w '%{http_code}' -d "a=b" "$base/")"
expect "a large upload" "405" \
    "$(head -c 3000000 /dev/zero | curl -sS -o "$work/put" -w '%{http_code}' -T - "$base/upload")"
expect "connections of three requests" "1 0 0" \
    "$(curl -sS -o "$work/a" -o "$work/b" -o "$work/c" -w '%{num_connects} ' "$picture" "$picture" "$base/missing.jpg" |
        sed 's/ $//')"
expect "HTTP/1.0" "200" "$(curl -sS -0 -o "$work/old" -w '%{http_code}' "$picture")"
cmp -s "$work/one.jpg" "$work/old" || fail "HTTP/1.0 gets another picture"
expect "an offer of HTTP/2" "200 1.1" \
    "$(curl -sS --http2 -o "$work/two" -w '%{http_code} %{http_version}' "$picture")"
echo "clients_test: curl is content"

# ab: HTTP/1.0, with and without keep-alive, then HEAD
for options in "" "-k" "-k -i"; do
    # shellcheck disable=SC2086 (the options are several words)
    ab -q $options -n 2000 -c 20 "$picture" >"$work/ab" 2>&1 || fail "ab $options: $(tail -n 1 "$work/ab")"
    expect "ab $options, complete" 2000 "$(number_after 'Complete requests' "$work/ab")"
    expect "ab $options, failed" 0 "$(number_after 'Failed requests' "$work/ab")"
    expect "ab $options, other than 200" "" "$(number_after 'Non-2xx responses' "$work/ab")"
    case $options in
    *-k*) expect "ab $options, kept alive" 2000 "$(number_after 'Keep-Alive requests' "$work/ab")" ;;
    esac
done
ab -q -k -n 500 -c 10 "$base/missing.jpg" >"$work/ab" 2>&1 || fail "ab, 404: $(tail -n 1 "$work/ab")"
expect "ab, 404" 500 "$(number_after 'Non-2xx responses' "$work/ab")"
expect "ab, 404, failed" 0 "$(number_after 'Failed requests' "$work/ab")"
echo "clients_test: ab is content"

# wrk: HTTP/1.1, plain, then pipelined
cat >"$work/pipeline.lua" <<'LUA'
init = function(args)
    local batch = {}
    for at = 1, 8 do
        batch[at] = wrk.format()
    end
    pipelined = table.concat(batch)
end
request = function()
    return pipelined
end
LUA
for script in "" "-s $work/pipeline.lua"; do
    # shellcheck disable=SC2086
    wrk -t 1 -c 16 -d 2s --timeout 60s $script "$picture" >"$work/wrk" 2>&1 || fail "wrk: $(tail -n 1 "$work/wrk")"
    grep -qE 'Socket errors|Non-2xx' "$work/wrk" && fail "wrk: $(grep -E 'Socket errors|Non-2xx' "$work/wrk")"
    count=$(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$work/wrk")
    [ "${count:-0}" -ge 1 ] || fail "wrk: no request is answered"
done
echo "clients_test: wrk is content"
