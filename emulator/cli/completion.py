"""`odradek completion SHELL`: the script with which bash, zsh or fish completes verbs and options.

    eval "$(odradek completion bash)"       # in ~/.bashrc
    eval "$(odradek completion zsh)"        # in ~/.zshrc
    odradek completion fish | source        # in ~/.config/fish/config.fish

The script is made of the commands' own parsers, so it asks nothing when it completes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

SHELLS = ("bash", "zsh", "fish")


class Verb(NamedTuple):
    """What may follow a verb: its actions and options."""

    summary: str
    words: list[str]


def add_completion(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "completion",
        help="what makes bash, zsh or fish complete verbs and options",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS)


def run_completion(
    options: argparse.Namespace, parser_of: Callable[[str], Mapping[str, argparse.ArgumentParser]]
) -> int:
    """Print the script. `parser_of` gives the commands' parsers, that of one verb whole."""
    verbs = {}
    for name, parser in parser_of("").items():
        whole = parser_of(name)[name]
        verbs[name] = Verb(parser.description or "", sorted(set(_words(whole))))
    print(_SCRIPTS[options.shell](verbs), end="")
    return 0


def _words(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield name
                yield from _words(each)
        elif action.choices is not None and not action.option_strings:
            yield from map(str, action.choices)


def _bash(verbs: Mapping[str, Verb]) -> str:
    cases = "".join(
        f"        {name}) words='{' '.join(verb.words)}' ;;\n" for name, verb in verbs.items()
    )
    return f"""\
_odradek() {{
    local words='{" ".join(verbs)}'
    if [ "$COMP_CWORD" -gt 1 ]; then
        case "${{COMP_WORDS[1]}}" in
{cases}        *) words='' ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
    [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _odradek odradek
"""


def _zsh(verbs: Mapping[str, Verb]) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(verbs)}"


def _fish(verbs: Mapping[str, Verb]) -> str:
    lines = [f"complete -c odradek -n __fish_use_subcommand -a '{' '.join(verbs)}' -f"]
    for name, verb in verbs.items():
        at = f"complete -c odradek -n '__fish_seen_subcommand_from {name}'"
        plain = [word for word in verb.words if not word.startswith("-")]
        if plain:
            lines.append(f"{at} -a '{' '.join(plain)}'")
        lines += [f"{at} -l {word[2:]}" for word in verb.words if word.startswith("--")]
    return "\n".join(lines) + "\n"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
