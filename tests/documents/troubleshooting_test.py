#!/usr/bin/env python3
"""docs/troubleshooting.md has an entry for every message of the source, and none for a message that is no more there.

An entry is a row of a table: its first cell has key phrases of messages between backquotes (... is what a program puts
in). A message needs a phrase that it contains (collect_messages.py says what counts as a message, and what is a part of
another one). Entries of the section on PETSc's own messages are not looked for in the source.
"""

import os
import re
import sys

import collect_messages

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = "docs/troubleshooting.md"
ROW = re.compile(r"^\| (?!message )(?P<phrases>[^|]*`[^|]*) \| (?P<cause>[^|]+) \| (?P<remedy>[^|]+) \|$")
OF_PETSC = "From PETSc"
LEAST_MESSAGES = 300


def entries(text):
    """(key phrase, of PETSc's own messages) of each entry."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        row = ROW.match(line)
        for phrase in re.findall(r"`([^`]+)`", row["phrases"]) if row else []:
            yield phrase, section.startswith(OF_PETSC)


def pattern_of(phrase):
    return re.compile(".*".join(re.escape(piece) for piece in phrase.split(collect_messages.GAP)))


def mistakes(text, messages):
    phrases = [(phrase, pattern_of(phrase), of_petsc) for phrase, of_petsc in entries(text)]
    known = [phrase for phrase, _, _ in phrases]
    used = set()
    for message in messages:
        found = [phrase for phrase, pattern, _ in phrases if pattern.search(message.text)]
        used.update(found)
        whole = collect_messages.part_of(message)
        if whole and not any(whole in phrase for phrase in known):
            yield f"{message.file}:{message.line}: '{message.text}' is a part of '{whole}', which has no entry"
        if not whole and not found:
            yield f"{message.file}:{message.line}: no entry for: {message.text}"
    for phrase, _, of_petsc in phrases:
        if not of_petsc and phrase not in used:
            yield f"{PAGE}: no message contains: {phrase}"
        if known.count(phrase) > 1:
            yield f"{PAGE}: twice: {phrase}"


def self_test(text, messages):
    """A new message, a lost entry and an entry of nothing are found; so is each message in code made up here."""
    new = collect_messages.Message("plugin/new.cpp", 1, "nothing like this was ever said", "throw error (")
    if not any("nothing like this" in mistake for mistake in mistakes(text, [*messages, new])):
        yield "self-test: a message without an entry passes"
    if not any("no message contains: unheard of" in mistake
               for mistake in mistakes(text + "\n| `unheard of` | a | b |\n", messages)):
        yield "self-test: an entry without a message passes"
    code = ('void f() { if (x) throw error(kind, "made up " + name + ", allowed are " "two"); }\n'
            'std::string why() { return is_on ? "" : "the light is not on"; }  // "a comment is not one"\n'
            'PetscErrorCode g() { PetscCheck(a < b, comm, code, "size %" PETSC_INT_FMT " is less than %g", b, c); }\n'
            'void h() { PetscCall(guarded([&] { keeps.why_not = "another reason of three"; })); }\n')
    wanted = {"made up ..., allowed are two", "the light is not on", "size ... is less than ...",
              "another reason of three"}
    found = {message.text for message in collect_messages.Reader("plugin/f.cpp", code).found
             if collect_messages.is_message(message)}
    if found != wanted:
        yield f"self-test: collected {sorted(found)} instead of {sorted(wanted)}"


def main():
    with open(os.path.join(TOP, PAGE)) as file:
        text = file.read()
    messages = list(collect_messages.messages(TOP))
    found = list(dict.fromkeys(mistakes(text, messages)))
    if len(messages) < LEAST_MESSAGES:
        found.append(f"{len(messages)} messages in the source, {LEAST_MESSAGES} expected at least: is one still found?")
    found += self_test(text, messages)
    print(*found, f"{len(messages)} messages, {len(list(entries(text)))} phrases, {len(found)} mistakes", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
