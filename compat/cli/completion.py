"""`odradek completion SHELL`: the script with which bash, zsh or fish completes verbs and options;
with `man` the man page.

    eval "$(odradek completion bash)"       # in ~/.bashrc
    eval "$(odradek completion zsh)"        # in ~/.zshrc
    odradek completion fish | source        # in ~/.config/fish/config.fish
    odradek completion man > ~/.local/share/man/man1/odradek.1

The script is made of the commands' own parsers. With ODRADEK_BOOTSTRAP in the environment it also
completes the names of topics and groups, for which the broker is asked.

The man page, made of the commands' parsers: `odradek completion man`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

SHELLS = ("bash", "zsh", "fish")
MAN = "man"


class Verb(NamedTuple):
    summary: str
    words: list[str]


def add_completion(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "completion",
        help="what makes bash, zsh or fish complete verbs and options; the man page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=(*SHELLS, MAN))


def run_completion(
    options: argparse.Namespace, parser_of: Callable[[str], Mapping[str, argparse.ArgumentParser]]
) -> int:
    """Print the script. `parser_of` gives the commands' parsers, that of one verb whole."""
    names = parser_of("")
    if options.shell == MAN:
        summaries = {name: parser.description or "" for name, parser in names.items()}
        print(man_page(summaries, lambda name: parser_of(name)[name]), end="")
        return 0
    verbs = {}
    for name, parser in names.items():
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


TOPICS = ("topics", "records", "produce")
"""Verbs after which the name of a topic may stand."""
_FILTER = """sed -nE 's/^\\{"(topic|group)": "([A-Za-z0-9._-]+)".*/\\2/p'"""
_NAMES = f'odradek "$1" --timeout 2 list --json 2>/dev/null | {_FILTER}'
_FISH_NAMES = f"odradek $argv[1] --timeout 2 list --json 2>/dev/null | {_FILTER}"


def _bash(verbs: Mapping[str, Verb]) -> str:
    cases = "".join(
        f"        {name}) words='{' '.join(verb.words)}' ;;\n" for name, verb in verbs.items()
    )
    return f"""\
_odradek_names() {{
    [ -z "$ODRADEK_BOOTSTRAP" ] || {_NAMES}
}}
_odradek() {{
    local words='{" ".join(verbs)}'
    if [ "$COMP_CWORD" -gt 1 ]; then
        case "${{COMP_WORDS[1]}}" in
{cases}        *) words='' ;;
        esac
        case "${{COMP_WORDS[COMP_CWORD]}}/${{COMP_WORDS[1]}}" in
        -*) ;;
        */{"|*/".join(TOPICS)}) words="$words $(_odradek_names topics)" ;;
        */groups) words="$words $(_odradek_names groups)" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
    [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _odradek odradek
"""


def _zsh(verbs: Mapping[str, Verb]) -> str:
    begin = (
        "whence compdef >/dev/null || { autoload -Uz compinit && compinit -u; }",
        "autoload -Uz +X bashcompinit && bashcompinit",
    )
    return "\n".join((*begin, _bash(verbs)))


def _fish(verbs: Mapping[str, Verb]) -> str:
    lines = [
        f"function __odradek_names\n    set -q ODRADEK_BOOTSTRAP; and {_FISH_NAMES}\nend",
        f"complete -c odradek -n __fish_use_subcommand -a '{' '.join(verbs)}' -f",
    ]
    for name in (*TOPICS, "groups"):
        which = "groups" if name == "groups" else "topics"
        at = f"complete -c odradek -n '__fish_seen_subcommand_from {name}'"
        lines.append(f"{at} -a '(__odradek_names {which})'")
    for name, verb in verbs.items():
        at = f"complete -c odradek -n '__fish_seen_subcommand_from {name}'"
        plain = [word for word in verb.words if not word.startswith("-")]
        if plain:
            lines.append(f"{at} -a '{' '.join(plain)}'")
        lines += [f"{at} -l {word[2:]}" for word in verb.words if word.startswith("--")]
    return "\n".join(lines) + "\n"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


_HEAD = r"""
.TH ODRADEK 1 "" "odradek" "User Commands"
.SH NAME
odradek \- a Kafka broker for tests and local development, and a shell for any Kafka
.SH SYNOPSIS
.B odradek
.I COMMAND
[\fIHOST:PORT\fR] [\fIARGUMENT\fR ...] [\fIOPTION\fR ...]
.SH DESCRIPTION
.B odradek serve
runs a broker until it is stopped. The other commands show and change what any broker has, a real
Kafka too, or work on stored topics. Options of Kafka's scripts, kcat and rpk are understood where
they mean something here.
.SH COMMANDS
"""
_TAIL = r"""
.SH ENVIRONMENT
.TP
.B ODRADEK_BOOTSTRAP
The address of the broker, where a command names none.
.TP
.BR ODRADEK_PROFILE ", " ODRADEK_PROFILES
The profile of connections to take, and the file with them (~/.config/odradek/profiles.toml).
.TP
.B ODRADEK_PORT\fR, \fBODRADEK_DATA_DIR\fR, ...
Each option of
.B odradek serve
has its variable;
.B ODRADEK_SET_LOG_RETENTION_HOURS
is the config log.retention.hours.
.SH FILES
.TP
.B odradek.toml
Options, configs and topics of
.BR "odradek serve" ,
read from the directory in which it is started; or the table [tool.odradek] of
.BR pyproject.toml .
.SH EXIT STATUS
0; 1 when a broker refuses or cannot be reached; 2 for a wrong option, before any broker is asked;
130 after Ctrl\-C, but 0 where that is how a command ends
.RB ( serve ", " top ", " \-\-follow ).
.SH SEE ALSO
.BR kcat (1)
"""


def man_page(
    summaries: Mapping[str, str], parser_of: Callable[[str], argparse.ArgumentParser]
) -> str:
    """The page, in troff. `summaries`: of each command; `parser_of` gives its parser, whole."""
    commands = [
        line
        for name, summary in summaries.items()
        for line in _command(name, summary, parser_of(name))
    ]
    return re.sub(r"\n\n+", "\n.PP\n", _HEAD.lstrip() + "\n".join(commands) + _TAIL)


def _command(name: str, summary: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f".SS odradek {_escaped(name)}"
    if "\n" not in summary:
        yield _escaped(summary)
    description = (parser.description or "").strip()
    if "\n" in description:
        yield f".PP\n.nf\n{_escaped(description)}\n.fi"
    yield from _options(parser)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f".TP\n.B {_escaped(choice.dest)}\n{_help_of(choice, parser)}\n.RS"
                yield from _options(action.choices[choice.dest])
                yield ".RE"
        elif action.option_strings and action.dest != "help":
            names = ", ".join(f"\\fB{_escaped(each)}\\fR" for each in action.option_strings)
            value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
            shown = " ".join(value) if isinstance(value, tuple) else value
            yield f".TP\n{names} \\fI{_escaped(shown)}\\fR\n{_help_of(action, parser)}"


def _help_of(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    text = " ".join((action.help or "").split())
    return _escaped(text % {**vars(action), "prog": parser.prog})


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub("[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
