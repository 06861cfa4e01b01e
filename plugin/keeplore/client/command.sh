#!/bin/sh
# command.sh ARGUMENT...
# Keeplore's command line for whoever knows no other way to it: an agent's shell has neither the person's aliases nor an
# environment that is active in another window. Runs the installation that the hosts of this machine start, else `keeplore`
# from the PATH.
find_state() { # as client.sh does
    state=${KEEPLORE_STATE_DIR-}
    if [ -z "$state" ]; then
        own=${0%/client/command.sh}
        case $0 in /*/client/command.sh) [ -d "$own/spool" ] && state=$own && return ;; esac
        case ${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME/keeplore && return ;; esac
        case ${HOME-} in /*) ;; *) return 1 ;; esac
        state=$HOME/.local/state/keeplore
        [ ! -d /System/Library ] || state="$HOME/Library/Application Support/keeplore"
    fi
}

python=
find_state && [ -r "$state/python" ] && read -r python <"$state/python"
case $python in /*) [ -x "$python" ] && exec "$python" -m keeplore.cli "$@" ;; esac

IFS=:
for folder in $PATH; do
    [ -f "$folder/../keeplore/client/command.sh" ] && continue # a plugin's, which runs this file
    [ -x "$folder/keeplore" ] && exec "$folder/keeplore" "$@"
done
echo 'Keeplore is not installed here: run `pipx install .` or `uv tool install .` in a checkout of it, then `keeplore init ~/memory`' >&2
exit 127
