"""``memtree completion``: scripts for the shells, generated from the declared commands."""

from __future__ import annotations

from memtree.cli.options import Argument, Command, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Option, Values

SHELLS = ("bash", "zsh", "fish")

BASH = """\
_memtree() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}}
    local before="$command ${{COMP_WORDS[COMP_CWORD-1]}}"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W '{names} help --help --version' -- "$cur"))
        return
    fi
    case "$before" in
{values}
    esac
    case "$command" in
        help) COMPREPLY=($(compgen -W '{names}' -- "$cur")) ;;
{words}
    esac
}}
complete -F _memtree memtree
"""

ZSH = """\
#compdef memtree
_memtree() {{
    if ((CURRENT == 2)); then
        local -a commands=(
{summaries}
            'help:show the help of a command'
        )
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
        help) _arguments '1:command:({names})' ;;
{arguments}
    esac
}}
compdef _memtree memtree
"""

FISH = """\
complete -c memtree -f
{summaries}
complete -c memtree -n __fish_use_subcommand -a help -d 'show the help of a command'
complete -c memtree -n '__fish_seen_subcommand_from help' -a '{names}'
{options}
"""


def _name(command: Command) -> str:
    return command.name.split()[-1]


def _choices(command: Command) -> str:
    """Words that can stand as an argument of the command."""
    return " ".join(choice for argument in command.arguments for choice in argument.choices)


def _quoted(words: str) -> str:
    """A text in single quotes, for any of the shells."""
    return "'" + words.replace("'", "'\\''") + "'"


def bash(commands: list[Command]) -> str:
    """Completion for bash."""
    values, words = [], []
    for command in commands:
        for option in command.options:
            if option.metavar:
                before = "|".join(f"'{_name(command)} {name}'" for name in option.names)
                chosen = (
                    f"-W '{' '.join(option.choices)}'"
                    if option.choices
                    else "-d"
                    if option.is_folder
                    else "-W ''"
                )
                values.append(f'        {before}) COMPREPLY=($(compgen {chosen} -- "$cur")); return ;;')
        known = " ".join(name for option in command.options for name in option.names)
        known = f"{known} {_choices(command)}".rstrip()
        words.append(f"        {_name(command)}) COMPREPLY=($(compgen -W '{known}' -- \"$cur\")) ;;")
    names = " ".join(map(_name, commands))
    return BASH.format(names=names, values="\n".join(values), words="\n".join(words))


def _zsh_option(option: Option) -> str:
    """One option as ``_arguments`` takes it."""
    told = option.help
    for special in "\\[]:":
        told = told.replace(special, "\\" + special)
    told = f"[{told}]"
    if option.metavar:
        action = (
            f"({' '.join(option.choices)})" if option.choices else "_files -/" if option.is_folder else ""
        )
        told += f":{option.metavar}:{action}"
    if len(option.names) == 1:
        return _quoted(option.names[0] + told)
    return _quoted(f"({' '.join(option.names)})") + "{" + ",".join(option.names) + "}" + _quoted(told)


def zsh(commands: list[Command]) -> str:
    """Completion for zsh."""
    summaries, arguments = [], []
    for command in commands:
        summaries.append(f"            {_quoted(_name(command) + ':' + command.summary)}")
        specs = [_zsh_option(option) for option in command.options]
        specs.append(_quoted(f"*:argument:({_choices(command)})" if _choices(command) else "*:argument:"))
        arguments.append(f"        {_name(command)}) _arguments {' '.join(specs)} ;;")
    names = " ".join(map(_name, commands))
    return ZSH.format(names=names, summaries="\n".join(summaries), arguments="\n".join(arguments))


def fish(commands: list[Command]) -> str:
    """Completion for fish."""
    summaries, options = [], []
    for command in commands:
        name = _name(command)
        summaries.append(
            f"complete -c memtree -n __fish_use_subcommand -a {name} -d {_quoted(command.summary)}"
        )
        seen = f"complete -c memtree -n '__fish_seen_subcommand_from {name}'"
        for option in command.options:
            words = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
            if option.metavar:
                words.append("-x")
            if option.choices or option.is_folder:
                chosen = " ".join(option.choices) or "(__fish_complete_directories)"
                words.append(f"-a {_quoted(chosen)}")
            options.append(f"{seen} {' '.join(words)} -d {_quoted(option.help)}")
        if _choices(command):
            options.append(f"{seen} -a {_quoted(_choices(command))}")
    names = " ".join(map(_name, commands))
    return FISH.format(names=names, summaries="\n".join(summaries), options="\n".join(options))


def run(values: Values) -> int:
    """Print the script of a shell."""
    from memtree.cli.main import COMMANDS, load

    script = {"bash": bash, "zsh": zsh, "fish": fish}[values.shell]
    print(script([load(name) for name in COMMANDS]), end="")
    return 0


COMMAND = Command(
    "memtree completion",
    "print the completion script of a shell",
    run,
    arguments=[Argument("shell", "bash, zsh or fish", kind=text, choices=SHELLS)],
    examples=[
        ('eval "$(memtree completion bash)"', "in ~/.bashrc"),
        ('eval "$(memtree completion zsh)"', "in ~/.zshrc, after compinit"),
        ("memtree completion fish > ~/.config/fish/completions/memtree.fish", "once"),
    ],
)
