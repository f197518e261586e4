/*
   petsc-compound: registers a kind of entry of one's own (petsccompound/entry.hpp) for the host.

     #include <petsccompound/register_entry.hpp>
     #include "symmetric.hpp"                         // template <class S> struct symmetric : custom_entry<...>

     PetscCall(PetscCompoundInitialize());               // petsccompound.h; not needed with -dll_append
     PetscCall(MatCompoundRegisterEntry<symmetric>());   // once, after PetscInitialize()

   Then -mat_compound_entry symmetric packs matrices so, on the host; on a GPU too with -mat_compound_entry_file
   symmetric.hpp. Compile with C++20 and link the plugin's library; without optimisation (-O2) products are slow.
*/
#pragma once

#include <petscmat.h>

#include <type_traits>

#include "entry.hpp"
#include "host_text/host_entry.hpp"

/* Not collective, but every process that multiplies needs it. The kind is tried first: an error says what is wrong. */
PETSC_EXTERN PetscErrorCode MatCompoundRegisterHostEntry(const compound::host_entry* entry);

namespace compound {

template <class Real>
using petsc_scalar_of = std::conditional_t<sizeof(PetscScalar) == 2 * sizeof(Real), complex_number<Real>, Real>;

}  // namespace compound

/* Registers Kind<S> for this PETSc's scalars. */
template <template <class> class Kind>
PetscErrorCode MatCompoundRegisterEntry() {
  static constexpr compound::host_entry entry = compound::host_entry_of<Kind<compound::petsc_scalar_of<PetscReal>>>();
  return MatCompoundRegisterHostEntry(&entry);
}
