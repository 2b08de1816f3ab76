#!/bin/sh
# Certificates for tests, in the current folder: NAME.pem and NAME.key for each host NAME; one with an RSA key, and one
# that has expired, both of localhost.
set -eu
certificate() { # the name of its files, the host, and how its key is made
    name=$1 host=$2
    shift 2
    openssl req -x509 "$@" -nodes -keyout "$name.key" -out "$name.pem" -days 30 -subj "/CN=$host" \
        -addext "subjectAltName=DNS:$host,IP:127.0.0.1" 2> /dev/null
}
certificate localhost localhost -newkey ec -pkeyopt ec_paramgen_curve:P-256
certificate other.example other.example -newkey ec -pkeyopt ec_paramgen_curve:P-256
certificate rsa localhost -newkey rsa:2048
openssl x509 -in localhost.pem -key localhost.key -days -1 -out expired.pem 2> /dev/null ||
    openssl x509 -in localhost.pem -signkey localhost.key -days -1 -out expired.pem
openssl rand -out ticket.key 80
