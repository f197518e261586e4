// The operations that read or write the values of a parent's arrays, and are not ours.
#pragma once

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

template <auto... Members>
struct Operations {};

/// Of ours, products and sums bring values themselves where they run on the host; views and duplicates do where they
/// are of values.
using GuardedOperations =
    Operations<&_MatOps::setvalues, &_MatOps::setvaluesblocked, &_MatOps::setvalueslocal,
               &_MatOps::setvaluesblockedlocal, &_MatOps::setvaluesrow, &_MatOps::zeroentries, &_MatOps::zerorows,
               &_MatOps::zerorowslocal, &_MatOps::zerorowscolumns, &_MatOps::setrandom, &_MatOps::load,
               &_MatOps::fdcoloringapply, &_MatOps::scale, &_MatOps::shift, &_MatOps::diagonalscale,
               &_MatOps::diagonalset, &_MatOps::conjugate, &_MatOps::realpart, &_MatOps::imaginarypart, &_MatOps::copy,
               &_MatOps::equal, &_MatOps::getrow, &_MatOps::getrowuppertriangular, &_MatOps::getvalues,
               &_MatOps::getvalueslocal, &_MatOps::getcolumnvector, &_MatOps::getcolumnreductions, &_MatOps::getrowmax,
               &_MatOps::getrowmaxabs, &_MatOps::getrowmin, &_MatOps::getrowminabs, &_MatOps::norm,
               &_MatOps::issymmetric, &_MatOps::ishermitian, &_MatOps::findzerodiagonals,
               &_MatOps::findoffblockdiagonalentries, &_MatOps::findnonzerorows,
#if !PetscDefined(HAVE_CUDA)  // else it is ours
               &_MatOps::getdiagonal,
#endif
               &_MatOps::transpose, &_MatOps::hermitiantranspose, &_MatOps::permute, &_MatOps::creategraph,
               &_MatOps::createsubmatrix, &_MatOps::createsubmatrices, &_MatOps::createsubmatricesmpi,
               &_MatOps::getmultiprocblock, &_MatOps::getlocalsubmatrix, &_MatOps::sor, &_MatOps::invertblockdiagonal,
               &_MatOps::invertvariableblockdiagonal, &_MatOps::multdiagonalblock, &_MatOps::mults, &_MatOps::lufactor,
               &_MatOps::choleskyfactor, &_MatOps::ilufactor, &_MatOps::iccfactor,
#if PETSC_VERSION_GE(3, 19, 0)
               &_MatOps::eliminatezeros,
#endif
#if PETSC_VERSION_GE(3, 20, 0)
               &_MatOps::getrowsumabs,
#endif
               &_MatOps::convert>;

}  // namespace compound::plugin
