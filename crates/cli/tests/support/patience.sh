# The harness of the shell scripts of tests. Only this file sleeps.

# wait_for WHAT COMMAND...: waits until the command succeeds. Only a hang takes longer than a minute.
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
