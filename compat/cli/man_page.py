"""The man page, made of the commands' parsers: `odradek completion man`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping

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
    told = [
        line
        for name, summary in summaries.items()
        for line in _command(name, summary, parser_of(name))
    ]
    return re.sub(r"\n\n+", "\n.PP\n", _HEAD.lstrip() + "\n".join(told) + _TAIL)


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
