/*
   petsc-compound: a kind of entry of one's own.

   A header that includes this one and defines `template <class S> struct NAME : compound::custom_entry<NAME<S>, S,
   rows, columns, words>` is compiled for the GPU from -mat_compound_entry_file, and for the host where a program
   includes it and petsccompound/register_entry.hpp. docs/entries.md and examples/custom_entry/ show both.
*/
#pragma once

#include "device/entry/custom.hpp"
