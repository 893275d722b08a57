/* thalweg completion bash|zsh|fish: a script for the shell, made from the tables of commands. */
#include <string.h>

#include "program.h"

static void print_words(const command *c, bool verbs, bool options)
{
    for (const verb *v = verbs && c->verbs ? c->verbs : NULL; v && v->name; v++)
        printf("%s ", v->name);
    for (const command_option *o = options ? c->options : NULL; o && o->name; o++)
        printf("%s ", o->name);
}

static int bash(const invocation *call)
{
    (void)call;
    puts("_thalweg() {\n    local word=${COMP_WORDS[COMP_CWORD]} words=");
    fputs("    if [ \"$COMP_CWORD\" = 1 ]; then\n        words='", stdout);
    for (int i = 0; commands[i]; i++)
        printf("%s ", commands[i]->name);
    puts("'\n    else\n        case ${COMP_WORDS[1]} in");
    for (int i = 0; commands[i]; i++) {
        printf("        %s) [ \"$COMP_CWORD\" = 2 ] && words='", commands[i]->name);
        print_words(commands[i], true, false);
        fputs("'; words+=' ", stdout);
        print_words(commands[i], false, true);
        puts("--help' ;;");
    }
    puts(
        "        esac\n    fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -o default -F _thalweg thalweg");
    return EXIT_WORKED;
}

/* A text between single quotes. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){ *text, 0 }, stdout);
    putchar('\'');
}

static int zsh(const invocation *call)
{
    (void)call;
    puts("#compdef thalweg\nif (( CURRENT == 2 )); then\n    local -a known=(");
    for (int i = 0; commands[i]; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s:%s", commands[i]->name, commands[i]->summary);
        fputs("        ", stdout);
        print_quoted(line);
        putchar('\n');
    }
    puts("    )\n    _describe command known\n    return\nfi\ncase ${words[2]} in");
    for (int i = 0; commands[i]; i++) {
        printf("%s) compadd -- ", commands[i]->name);
        print_words(commands[i], true, true);
        puts("--help ;;");
    }
    puts("esac\n_files");
    return EXIT_WORKED;
}

static int fish(const invocation *call)
{
    (void)call;
    for (int i = 0; commands[i]; i++) {
        const command *c = commands[i];
        printf("complete -c thalweg -f -n __fish_use_subcommand -a %s -d ", c->name);
        print_quoted(c->summary);
        putchar('\n');
        for (const verb *v = c->verbs; v && v->name; v++) {
            printf("complete -c thalweg -n '__fish_seen_subcommand_from %s' -a %s -d ", c->name, v->name);
            print_quoted(v->summary);
            putchar('\n');
        }
        for (const command_option *o = c->options; o && o->name; o++) {
            printf("complete -c thalweg -n '__fish_seen_subcommand_from %s' -l %s %s-d ", c->name, o->name + 2,
                   o->value ? "-r " : "");
            print_quoted(o->help);
            putchar('\n');
        }
    }
    return EXIT_WORKED;
}

static const verb verbs[] = {
    { "bash", "", 0, 0, "for ~/.bashrc: eval \"$(thalweg completion bash)\"", bash },
    { "zsh", "", 0, 0, "as the file _thalweg in a folder of $fpath", zsh },
    { "fish", "", 0, 0, "as ~/.config/fish/completions/thalweg.fish", fish },
    { .name = NULL },
};
const command completion_command = {
    .name = "completion", .summary = "Prints a script with which a shell completes this command.", .help = "", .verbs = verbs
};
