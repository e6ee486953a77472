# debian_root.sh: folders with a whole Debian release (roots), made by debootstrap, and commands that run in them. The
# package sources and apt's settings are those of this machine. Roots are kept below build/debianRELEASE:
#   clean    what debootstrap installs, and nothing else; the others begin as copies of it
#   tests    with what tests/deps installs, and a copy of this tree in /src/cardbox
#   build    with what building packages needs, and a copy of this tree
#   database with PostgreSQL and curl
# shellcheck shell=bash

root_codename() { # RELEASE
    case "$1" in
    12) echo bookworm ;;
    13) echo trixie ;;
    *) echo "no codename is known for Debian $1" >&2 && return 1 ;;
    esac
}

# The lines of sources.list: those of this machine, for another release.
root_sources() { # CODENAME
    local here
    here=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    # shellcheck disable=SC2016 # names of apt
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v here="$here" -v there="$1" '$3 == "main" && sub("^" here, there, $2) && !seen[$0]++ { print "deb", $0 }'
}

# Also a package's installation that was broken off is found.
root_works() { # DIR
    [ -d "$1" ] && [ "$(chroot "$1" dpkg --audit 2>&1 && echo works)" = works ]
}

# Names of hosts, certificates and apt's settings, as this machine has them now.
root_configure() { # DIR CODENAME
    root_sources "$2" >"$1/etc/apt/sources.list" &&
        apt-config dump | grep -E '^Acquire::(https?|Check-|Retries)' >"$1/etc/apt/apt.conf.d/90machine"
    cp -L /etc/hosts /etc/resolv.conf "$1/etc/" || return
    mkdir -p "$1/usr/local/share/ca-certificates"
    ! cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/" 2>/dev/null ||
        chroot "$1" update-ca-certificates || return
    # Packages start no services.
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d" && chmod 755 "$1/usr/sbin/policy-rc.d"
}

# debootstrap's own signs of life go to the standard output, and the reason of a failure is the last line.
root_bootstrap() { # RELEASE DIR
    local codename site
    [ "$(id -u)" -eq 0 ] || { echo "only root can make a root of Debian" && return 1; }
    tests/deps root || { echo "debootstrap can't be installed" && return 1; }
    codename=$(root_codename "$1") && site=$(root_sources "$codename" | awk 'NR == 1 { print $2 }')
    [ -n "$site" ] || { echo "apt has no source of Debian's packages" && return 1; }
    rm -rf "$2.new"
    debootstrap --variant=minbase --include=ca-certificates "$codename" "$2.new" "$site" &&
        root_configure "$2.new" "$codename" && root_update "$2.new" && mv "$2.new" "$2"
}

root_update() { # DIR
    root_run "$1" apt-get -q update && root_run "$1" apt-get -q -y dist-upgrade
}

# Makes the root, or makes it again if it does not work. Prints the folder; why that failed is in build/debianRELEASE/log.
root_made() { # RELEASE NAME
    local folder=$PWD/build/debian$1
    mkdir -p "$folder"
    (
        flock 9 # another test may need it too
        if ! root_works "$folder/clean"; then
            rm -rf "$folder/clean"
            root_bootstrap "$1" "$folder/clean" || exit
        fi
        [ "$2" = clean ] || root_works "$folder/$2" || root_copied "$folder/clean" "$folder/$2" || exit
        root_configure "$folder/$2" "$(root_codename "$1")"
    ) 9>"$folder/lock" >"$folder/log" 2>&1 && echo "$folder/$2"
}

root_copied() { # FROM TO
    rm -rf "$2" "$2.new"
    cp -a "$1" "$2.new" && mv "$2.new" "$2"
}

# Says why a root can't be made, and ends the script as one without any case.
root_skip() { # RELEASE
    cat "build/debian$1/log"
    echo "SKIPPED: Debian $1: $(grep . "build/debian$1/log" | tail -n 1)"
    echo "0 passed, 0 failed"
    exit 0
}

# Copies this tree to /src/cardbox of the root, where what was built before stays.
root_tree() { # DIR
    local to=$1/src/cardbox
    mkdir -p "$to" &&
        find "$to" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} + &&
        tar --exclude=./build --exclude=./var --exclude=./.git --exclude=node_modules -cf - . | tar -xf - -C "$to"
}

# Runs a command in /src/cardbox of the root, or in / if that is not there. It has processes and mounts of its own: when it
# ends or is killed, nothing keeps running or stays mounted. ../shared of this tree is /src/shared. With ROOT_OFFLINE=1, it
# has a network of its own, where all ports are free.
root_run() { # DIR COMMAND...
    local setting value settings=() network=()
    [ -z "${ROOT_OFFLINE:-}" ] || network=(--net)
    for setting in JOBS http_proxy https_proxy no_proxy; do
        [ -z "${!setting:-}" ] || settings+=("$setting=${!setting}")
    done
    for setting in registry cafile; do
        value=$(npm config get "$setting" 2>/dev/null)
        [ -z "${value#null}" ] || settings+=("npm_config_$setting=$value")
    done
    # shellcheck disable=SC2016 # the inner shell's variables
    unshare "${network[@]}" --mount --pid --fork --kill-child bash -c '
        root=$1 shared=$2
        shift 2
        mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
            mount -t tmpfs tmpfs "$root/dev/shm" && { [ -z "${ROOT_OFFLINE:-}" ] || ip link set lo up; } || exit
        if [ -d "$shared" ]; then
            mkdir -p "$root/src/shared" && mount --bind "$shared" "$root/src/shared" || exit
        fi
        # The shell stays, since the first process of all has to wait for those whose parents have ended.
        chroot "$root" /usr/bin/env -i "$@"
        exit $?' bash "$1" "$PWD/../shared" "${settings[@]}" HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        bash -c 'cd /src/cardbox 2>/dev/null; exec "$@"' bash "${@:2}"
}
