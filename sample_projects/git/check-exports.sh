#!/bin/sh
# Checks every mapping export of this repository with METL. Ends with 0 when all is well, 3 when something was found,
# 1 when a check could not be made.
#
# For each mappings/NAME.json or NAME.dusb:
#   is it as metl export wrote it, and consistent?
#   would it lose something to the schemas in schemas/?
#   does it show what its project has published, where mappings/NAME.metl lies beside it?
# and, for people, what changed in it since the branch that the change goes to.
#
# Environment, all optional:
#   METL     how to start the program (metl)
#   SCHEMAS  folder of schemas that the mappings must live with (schemas)
#   TREE     where these belong: extraction or cdm (extraction)
#   BASE     commit or branch to compare with; in merge requests the target branch
set -u

METL=${METL:-metl}
SCHEMAS=${SCHEMAS:-schemas}
TREE=${TREE:-extraction}
if [ -z "${BASE:-}" ]; then
    target=${GITHUB_BASE_REF:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-}}
    BASE=${target:+origin/$target}
fi
worst=0
said=$(mktemp) before=$(mktemp)
trap 'rm -f "$said" "$before"' EXIT

# Runs one check of one file, prints its lines (notes left out), and remembers the worst outcome.
check() {
    file=$1
    shift
    $METL check "$@" >"$said" 2>&1
    code=$?
    grep -v -e '^note ' -e '^Reading ' -e '^Trying ' "$said" | sed 's/^/| /'
    if [ -n "${GITHUB_ACTIONS:-}" ]; then
        place=$(printf '%s' "$file" | sed -e 's/%/%25/g' -e 's/:/%3A/g' -e 's/,/%2C/g')
        grep -e '^error' -e '^warning trial' "$said" | sed -e 's/%/%25/g' -e 's/^[a-z]*:\{0,1\} //' |
            while IFS= read -r line; do printf '::error file=%s::%s\n' "$place" "$line"; done
    fi
    case $code in
    0) ;;
    3) [ "$worst" -eq 1 ] || worst=3 ;;
    *) worst=1 ;;
    esac
    return "$code"
}

set -- mappings/*.json mappings/*.dusb
for file in "$@"; do
    [ -f "$file" ] || continue
    count=$((${count:-0} + 1))
    echo "$file"
    project=${file%.*}.metl
    if [ -f "$project" ]; then
        check "$file" "./$file" --fail-on error --same-as "./$project"
    else
        check "$file" "./$file" --fail-on error
    fi || continue
    if [ -d "$SCHEMAS" ]; then
        echo "$file against $SCHEMAS/"
        check "$file" "./$file" --against "$SCHEMAS" --tree "$TREE"
    fi
    if [ -n "$BASE" ] && git show "$BASE:$file" >"$before" 2>/dev/null; then
        echo "$file since $BASE"
        $METL diff "$before" "./$file" 2>&1 | sed 's/^/| /'
    fi
done

if [ "${count:-0}" -eq 0 ]; then
    echo "There is no export in mappings/: metl export PROJECT --format json -o mappings/NAME.json" >&2
    exit 1
fi
exit "$worst"
