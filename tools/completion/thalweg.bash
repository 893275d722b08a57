# bash completion of the thalweg command. It asks the command itself for its subcommands, their words and their options, so that it never lags behind.
_thalweg() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} usage
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(thalweg help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p')" -- "$word"))
        return
    fi
    usage=$(thalweg help "$command" 2>/dev/null)
    if [ "$command" = help ]; then
        COMPREPLY=($(compgen -W "$(thalweg help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p')" -- "$word"))
    elif [ "${word#-}" != "$word" ]; then
        COMPREPLY=($(compgen -W "--help $(printf '%s' "$usage" | grep -o -e '--[a-z][a-z_-]*' | sort -u)" -- "$word"))
    else
        [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "$(printf '%s' "$usage" | sed -n 's/^\(usage:\|      \) thalweg [a-z-]* \([a-z][a-z]*\)\( .*\)\?$/\2/p')" -- "$word"))
        COMPREPLY+=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _thalweg thalweg
complete -o filenames -f thalweg-tensorboard
