#!/bin/sh
# Runs a command such as "parley serve ..." in a container, below an init.
#
# A server that was killed, by a fault or for lack of memory, is started again and takes over the
# agents that run on in the host. SIGTERM ends the container, and so all of its processes: the
# server gets SIGINT, with which it drains and ends its agents itself.
set -u
child=
stopped=
trap 'stopped=1; if [ -n "$child" ]; then kill -INT "$child"; fi' TERM INT
while [ -z "$stopped" ]; do
	"$@" &
	child=$!
	wait "$child"
	code=$?
	# A trapped signal ends wait before the server has ended.
	while kill -0 "$child" 2>/dev/null; do
		wait "$child"
		code=$?
	done
	# Above 128 a signal has ended it. Any other status is its decision.
	if [ "$code" -le 128 ]; then
		exit "$code"
	fi
	sleep 1
done
exit "$code"
