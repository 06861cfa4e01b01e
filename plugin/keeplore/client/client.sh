#!/bin/sh
# client.sh HOST EVENT < payload
# Puts one host event into Keeplore's spool (the format: docs/spool.md) and sees to it that a worker runs.
# Prints nothing and exits 0 whatever happens: a host must never suffer from its memory. POSIX sh and coreutils; every
# command that is not built into the shell costs the host half a millisecond.
[ -n "${KEEPLORE_OFF-}" ] && exit 0
exec >/dev/null 2>&1
umask 077
set -C # so that ">" never writes into a file that exists

PATIENCE=20 # seconds: some hosts never close the pipe, and what they had to say has come by then
allowed=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_- # a range would depend on the locale

word() { # the allowed characters of $1
    word= rest=
    [ ${#1} -le 64 ] && rest=$1
    while [ -n "$rest" ]; do
        part=${rest%%[!$allowed]*}
        word=$word$part
        rest=${rest#"$part"}
        rest=${rest#?}
    done
    word=${word:-unknown}
}

find_state() { # the one that this file is kept in, else as platformdirs finds it
    state=${KEEPLORE_STATE_DIR-}
    if [ -z "$state" ]; then
        own=${0%/client/client.sh}
        case $0 in /*/client/client.sh) [ -d "$own/spool" ] && state=$own && return ;; esac
        case ${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME/keeplore && return ;; esac
        case ${HOME-} in /*) ;; *) return 1 ;; esac
        state=$HOME/.local/state/keeplore
        [ ! -d /System/Library ] || state="$HOME/Library/Application Support/keeplore"
    fi
    case $state in /*) ;; *) state=$PWD/$state ;; esac
}

is_paused() { # until a time in digits, or without an end
    [ -e "$state/paused" ] || return
    until=
    read -r until <"$state/paused"
    case $until in '' | *[!0-9]*) return 0 ;; esac
    now=$(date -u +%Y%m%d%H%M%S)
    [ "${now:-0}" -lt "$until" ]
}

receive() { # stdin to the file $1, on the disk
    if ! command -v timeout; then
        cat >>"$1"
    elif [ -d /proc/self ]; then
        timeout $PATIENCE dd bs=64k conv=fsync of="$1" && return # one program less than `cat` and `sync`
    else
        timeout $PATIENCE cat >>"$1"
    fi
    case $? in
    0) ;;
    124 | 143) [ -s "$1" ] || return ;; # out of patience
    *) return 1 ;;
    esac
    sync "$1"
}

spool() { # stdin, in the name of host $1 and event $2
    [ -d "$state/spool/new" ] && [ -d "$state/spool/tmp" ] || mkdir -p "$state/spool/new" "$state/spool/tmp" || return
    now=$(date -u +%Y%m%dT%H%M%SZ.%N)
    second=${now%%.*} fraction=${now#*.}
    case $second in ????????T??????Z) ;; *) return 1 ;; esac
    case $fraction in *[!0-9]* | '') fraction=0 ;; esac # a date that does not know %N
    random=
    read -r random </proc/sys/kernel/random/uuid # process ids repeat, above all where containers share a home
    boot= since= # an order that survives a clock that is set back
    read -r boot </proc/sys/kernel/random/boot_id && read -r since rest </proc/uptime
    case $since in *[!0-9.]* | '') since= ;; *) since=-${boot%%-*}-${since%.*}${since#*.} ;; esac
    name=$second.$fraction.$$-${random%%-*}$since.0.$1.$2
    aside=$state/spool/tmp/$name
    # before anything is read, which cannot be read again
    echo room? >"$aside" || { rm -f "$aside" && return 1; }
    true >|"$aside"
    if receive "$aside" && mv -f "$aside" "$state/spool/new/$name"; then
        sync "$state/spool/new" & # the host need not wait for the name, only for the bytes
    else
        rm -f "$aside"
        return 1
    fi
}

is_private() { # whether the folder $1 is this user's alone, and nobody else can rename it
    [ ! -L "$1" ] && [ -O "$1" ] || return
    case $(ls -ld "$1") in drwx------*) ;; *) return 1 ;; esac
    set -- $(ls -ldLn "${1%/*}/")
    case $1 in d????????[tT]* | d????-??-?*) ;; *) return 1 ;; esac
    [ "$3" = 0 ] || [ "$3" = "$uid" ]
}

keep_elsewhere() { # what is left of stdin, where there is room, for a worker to take it
    uid=$(id -u)
    for base in "${XDG_RUNTIME_DIR-}" "${TMPDIR:-/tmp}"; do
        case $base in /*) ;; *) continue ;; esac
        base=${base%/}/keeplore-$uid
        [ -d "$base" ] || mkdir -m 700 "$base"
        is_private "$base" || continue
        state=$base/$(echo "$home" | tr / %)
        spool "$1" "$2" && return
    done
    true >"$home/dropped-$name"
}

worker_runs() {
    pid= words=
    read -r pid rest <"$state/worker.pid"
    case $pid in '' | *[!0-9]*) return 1 ;; esac
    kill -0 "$pid" || return
    [ -d /proc/self ] || return 0
    read -r words <"/proc/$pid/cmdline" # the id of a worker that died may be another program's by now
    case $words in *keeplore*worker*) ;; *) return 1 ;; esac
}

start_worker() {
    python=
    read -r python <"$state/python"
    case $python in /*) [ -x "$python" ] || return ;; *) return ;; esac
    tries=
    read -r tries <"$state/worker.tries"
    case $tries in '' | *[!0-9]* | ???????*) tries=0 ;; esac
    # One start in ten seconds, whoever asks: two hundred events at once must not start two hundred interpreters. One
    # that dies again and again gets a minute, ten minutes, an hour; a worker that lives removes the count.
    turn=${second%??}
    [ "$tries" -lt 3 ] || turn=${turn%?}
    [ "$tries" -lt 6 ] || turn=${turn%?}
    [ "$tries" -lt 9 ] || turn=${turn%?}
    turn=$state/worker.start-$turn
    true >"$turn" || return
    tries=${tries#"${tries%%[!0]*}"} # what begins with 0 would be read as octal
    echo "$((${tries:-0} + 1))" >|"$state/worker.tries"
    # not the latest ones: a client that was held up since it looked at its clock must find its turn taken
    find "$state/." ! -name . -prune -name 'worker.start-*' -mtime +0 -exec rm -f {} +
    export KEEPLORE_STATE_DIR="$state"
    detach=
    command -v setsid && detach=setsid
    (
        trap '' HUP
        cd / && exec $detach "$python" -m keeplore.worker
    ) </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
}

word "${1-}"
host=$word
word "${2-}"
find_state || exit 0
is_paused && exit 0
home=$state
spool "$host" "$word" || keep_elsewhere "$host" "$word" || exit 0
state=$home
worker_runs || start_worker
exit 0
