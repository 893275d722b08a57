# fish completion of the thalweg command; what it offers comes from the command's own help.
function __thalweg_commands
    thalweg help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*) +(.*)$' '$1\t$2'
end

function __thalweg_words
    set -l command (commandline -opc)[2]
    set -l usage (thalweg help $command 2>/dev/null)
    string match -ar -- '--[a-z][a-z_-]*' $usage | sort -u
    if test (count (commandline -opc)) -eq 2
        string replace -rf -- '^(?:usage:|      ) thalweg [a-z-]+ ([a-z]+)(?: .*)?$' '$1' $usage
    end
end

complete -c thalweg -n 'test (count (commandline -opc)) -eq 1' -f -a '(__thalweg_commands)'
complete -c thalweg -n 'test (count (commandline -opc)) -eq 2; and test (commandline -opc)[2] = help' -f -a '(__thalweg_commands)'
complete -c thalweg -n 'test (count (commandline -opc)) -ge 2; and test (commandline -opc)[2] != help' -a '(__thalweg_words)'
