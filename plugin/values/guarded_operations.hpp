// The operations that read or write the values of a base type's arrays, and are not ours.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

template <auto... Members>
struct Operations {};

/// The host is given the values, and the device keeps them.
using ReadingOperations =
    Operations<&_MatOps::getrow, &_MatOps::getrowuppertriangular, &_MatOps::getvalues, &_MatOps::getvalueslocal,
               &_MatOps::getcolumnvector, &_MatOps::getcolumnreductions, &_MatOps::getrowmax, &_MatOps::getrowmaxabs,
               &_MatOps::getrowmin, &_MatOps::getrowminabs, &_MatOps::norm, &_MatOps::issymmetric,
               &_MatOps::ishermitian, &_MatOps::findzerodiagonals, &_MatOps::findoffblockdiagonalentries,
               &_MatOps::findnonzerorows, &_MatOps::permute, &_MatOps::creategraph, &_MatOps::createsubmatrix,
               &_MatOps::createsubmatrices, &_MatOps::createsubmatricesmpi, &_MatOps::getmultiprocblock,
               &_MatOps::getlocalsubmatrix, &_MatOps::sor, &_MatOps::invertblockdiagonal,
               &_MatOps::invertvariableblockdiagonal, &_MatOps::multdiagonalblock, &_MatOps::mults,
#if !PetscDefined(HAVE_CUDA)  // else it is ours
               &_MatOps::getdiagonal,
#endif
#if PETSC_VERSION_GE(3, 20, 0)
               &_MatOps::getrowsumabs,
#endif
               &_MatOps::convert>;

/// The host is given the values, and they are its own from then on. Those are here, too, that PETSc compares between
/// two matrices, and those that may put the result in the place of the matrix.
using WritingOperations =
    Operations<&_MatOps::setvalues, &_MatOps::setvaluesblocked, &_MatOps::setvalueslocal,
               &_MatOps::setvaluesblockedlocal, &_MatOps::setvaluesrow, &_MatOps::zerorows, &_MatOps::zerorowslocal,
               &_MatOps::zerorowscolumns, &_MatOps::setrandom, &_MatOps::load, &_MatOps::fdcoloringapply,
               &_MatOps::shift, &_MatOps::diagonalscale, &_MatOps::diagonalset, &_MatOps::conjugate, &_MatOps::realpart,
               &_MatOps::imaginarypart, &_MatOps::equal, &_MatOps::transpose, &_MatOps::hermitiantranspose,
               &_MatOps::lufactor, &_MatOps::choleskyfactor, &_MatOps::ilufactor,
#if PETSC_VERSION_GE(3, 19, 0)
               &_MatOps::eliminatezeros,
#endif
               &_MatOps::iccfactor>;

}  // namespace compound::plugin
