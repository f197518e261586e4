// Kinds of entry that a user brings: kernels for the host, registered by a program, and a text for devices, from a
// file.
#pragma once

#include <string>
#include <string_view>

#include "entry/kinds.hpp"
#include "host_text/host_entry.hpp"

namespace compound {

/// Throws `argument` for a name that no kind of a user's may have: a built-in kind's, `auto`, no C++ identifier.
void check_entry_name(std::string_view name);

/// Throws `argument` with the promise that a trial found broken (device/entry_trial.hpp), if it did; `rows`: of a
/// block.
void check_trial(const std::string& subject, const trial_found& found, int rows, Field field);

/// Makes a kind known for one scalar type on the host. It is tried first, by the text that devices try it by: made-up
/// words must come back from their block, and its products must be the block's. The same definition again is nothing
/// new: the kernels stay, since matrices may be packed for them.
///
/// Throws `argument` saying what is wrong: a name that may not be, a structure of another version, a size of 0 or
/// beyond 32, a shape other than that of the kind's text, words or products that the trial refutes, another definition
/// under a known name.
void register_host_entry(const host_entry& entry);

/// The line before a text by which a compiler names that file, whatever is in its name.
std::string line_directive(std::string_view file);

/// Makes a kind's text known for devices: C++ that defines `template <class S> struct <name>`. The shape is what the
/// compiler says of it (cuda/entry_file.hpp). The same again is nothing new.
///
/// Throws `argument` for a built-in kind's name, a shape other than that of its host kernels, another text under a
/// known name.
void register_entry_text(std::string_view name, const std::string& file, const std::string& text, Field field,
                         const EntryShape& shape);

/// Whether this text is registered and the kind has a shape in this field: there is nothing to compile again.
bool has_entry_text(std::string_view name, const std::string& text, Field field);

/// The kernels of a kind for vectors and blocks of this scalar; null where none is registered.
const host_entry* registered_host_entry(std::string_view name, ScalarType scalar);

/// What devices compile before kernels of the kind, with the user's file and line numbers; empty for built-in kinds,
/// null where the kind is a user's and has no text.
const std::string* entry_text(std::string_view name);

}  // namespace compound
