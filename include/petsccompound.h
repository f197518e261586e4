/*
   petsc-compound: PETSc matrix types whose entries are compound (dense blocks and other small fixed-size algebras).

   Applications need nothing from this header: `-dll_append <path>/libpetsccompound.so -mat_type baijcompound` is
   enough. It is for programs that want to choose or inspect from code what the options choose from the command line.
*/
#pragma once

#include <petscmat.h>

/*MC
   MATBAIJCOMPOUND = "baijcompound" - block matrices whose products run in a layout and schedule of their own.

   A subclass of MATBAIJ: everything that MATBAIJ can do works. "seqbaijcompound" on one process, else
   "mpibaijcompound".

   Options Database Keys: those of -mat_compound_*, listed by -help and in the README.
M*/
#define MATBAIJCOMPOUND "baijcompound"
#define MATSEQBAIJCOMPOUND "seqbaijcompound"
#define MATMPIBAIJCOMPOUND "mpibaijcompound"

/*MC
   MATAIJCOMPOUND = "aijcompound" - matrices assembled by single scalars, whose products run in blocks and in a layout
   and schedule of their own.

   A subclass of MATAIJ: everything that MATAIJ can do works, algebraic multigrid (PCGAMG) among it. Blocks are those of
   MatSetBlockSizes(), or are found; full ones are multiplied on the host in the matrix's own arrays. "seqaijcompound"
   on one process, else "mpiaijcompound".

   Options Database Keys: those of -mat_compound_*, listed by -help and in the README.
M*/
#define MATAIJCOMPOUND "aijcompound"
#define MATSEQAIJCOMPOUND "seqaijcompound"
#define MATMPIAIJCOMPOUND "mpiaijcompound"

/*
   PCType: another name of PCPBJACOBI, which for these types inverts the diagonal blocks, packs the inverses and applies
   them where the vectors are. Matrices of other types get PETSc's own.
*/
#define PCPBJACOBICOMPOUND "pbjacobicompound"

/*
   KSPTypes: KSPCG and KSPBCGS whose iterations run on a device by themselves where matrix, vectors and preconditioner
   let them (docs/solvers.md).
*/
#define KSPCGCOMPOUND "cgcompound"
#define KSPBCGSCOMPOUND "bcgscompound"

/*
   Constructors of the same types with the layout pinned: MatGetType() says "seqbaijcompound" or "mpibaijcompound", or
   the same of aijcompound. On an assembled compound matrix, MatSetType() or MatConvert() in place to one of them pins
   the layout anew.
*/
#define MATBAIJCOMPOUNDCSR "baijcompoundcsr"
#define MATBAIJCOMPOUNDELLR "baijcompoundellr"
#define MATBAIJCOMPOUNDSELL "baijcompoundsell"
#define MATBAIJCOMPOUNDBELLPACK "baijcompoundbellpack"
#define MATBAIJCOMPOUNDDIA "baijcompounddia"
#define MATBAIJCOMPOUNDHDIA "baijcompoundhdia"
#define MATBAIJCOMPOUNDCCOO "baijcompoundccoo"
#define MATAIJCOMPOUNDCSR "aijcompoundcsr"
#define MATAIJCOMPOUNDELLR "aijcompoundellr"
#define MATAIJCOMPOUNDSELL "aijcompoundsell"
#define MATAIJCOMPOUNDBELLPACK "aijcompoundbellpack"
#define MATAIJCOMPOUNDDIA "aijcompounddia"
#define MATAIJCOMPOUNDHDIA "aijcompoundhdia"
#define MATAIJCOMPOUNDCCOO "aijcompoundccoo"

/* What a compound matrix did and holds; on MPI types the sums over this process's diagonal and off-diagonal part. */
typedef struct {
  PetscInt64 products;       /* products by our own kernels, transposes included (not the parent's) */
  PetscInt64 pattern_packs;  /* times the integers of a layout were built */
  PetscInt64 value_packs;    /* times values were packed (0 for ever when the plan lies on the parent's arrays) */
  PetscInt64 stored_blocks;  /* entries of the pattern */
  PetscInt64 padding_blocks; /* slots of the layout that hold no entry */
  PetscInt64 parent_bytes;   /* bytes of the BAIJ parent: values, columns, row starts */
  PetscInt64 packed_bytes;   /* bytes beside them, on the host and on a device: packed copies, values set on a device */
  PetscInt64 device_bytes;   /* of these, bytes on a device */
} MatCompoundInfo;

/* Registers the types, options and log events; loading by -dll_append calls it. May be called again. */
PETSC_EXTERN PetscErrorCode PetscCompoundInitialize(void);

/*
   The plan in use as one line, with "off: ..." for the off-diagonal part; "" before the first product, and where
   products are left to the parent. Not collective; the string belongs to the matrix, until its next product.
*/
PETSC_EXTERN PetscErrorCode MatCompoundGetPlan(Mat A, const char* plan[]);

/*
   What the options -mat_compound_plan and _layout do; NULL asks for nothing in particular ("auto"). A layout drops a
   plan that was asked for before. These and the three below: logically collective; PETSC_ERR_ARG_WRONG for a word that
   is not known, PETSC_ERR_SUP for a backend that is missing here. Whether a plan suits the matrix shows at its next
   product.
*/
PETSC_EXTERN PetscErrorCode MatCompoundSetPlan(Mat A, const char plan[]);
PETSC_EXTERN PetscErrorCode MatCompoundSetLayout(Mat A, const char layout[]);

/* The kind of entry, as the option -mat_compound_entry does: "auto" finds it, "dense" switches that off. */
PETSC_EXTERN PetscErrorCode MatCompoundSetEntry(Mat A, const char entry[]);

/* "auto", "host", "cuda" or "petsc" (the parent's own product). */
PETSC_EXTERN PetscErrorCode MatCompoundSetBackend(Mat A, const char backend[]);

/*
   How a plan is found, as the option -mat_compound_tune says: "off", "wisdom", "measure" or "exhaustive"; NULL for
   "off". Done at the next product, which packs the matrix anew. What comes of it is in MatCompoundGetPlan() and
   MatView() then.
*/
PETSC_EXTERN PetscErrorCode MatCompoundTune(Mat A, const char effort[]);

/*
   The parts of a matrix on several processes ("mpibaijcompound"), as MatMPIBAIJGetSeqBAIJ() gives those of MATMPIBAIJ,
   which refuses every type but that by its exact name: the diagonal and the off-diagonal part, both "seqbaijcompound",
   and the global block column of each block column of the latter. NULL for what is not wanted. They belong to A, until
   its pattern changes. PETSC_ERR_ARG_WRONG for a matrix of one process, which is its own part. Not collective.
*/
PETSC_EXTERN PetscErrorCode MatCompoundGetSeqBAIJ(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt* columns[]);

/* Not collective. */
PETSC_EXTERN PetscErrorCode MatCompoundGetInfo(Mat A, MatCompoundInfo* info);
