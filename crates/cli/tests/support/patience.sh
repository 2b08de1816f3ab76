# What the shell scripts of tests share: only here do they sleep.

# wait_for WHAT COMMAND...: until the command succeeds, for a minute, which only what hangs takes.
wait_for() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo "there is still not: $what" >&2; return 1; }
        sleep 0.1
    done
}
