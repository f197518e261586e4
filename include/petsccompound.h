/*
   petsc-compound: PETSc matrix types whose entries are compound (dense blocks and other small fixed-size algebras).

   Applications do not need this header: `-dll_append <path>/libpetsccompound.so -mat_type baijcompound` is enough.
   With it a program can set and query from code what the options set on the command line.
*/
#pragma once

#include <petscmat.h>

/*MC
   MATBAIJCOMPOUND = "baijcompound" - block matrices whose products run in a layout and schedule of their own.

   A subclass of MATBAIJ: all operations of MATBAIJ work. "seqbaijcompound" on one process, else
   "mpibaijcompound".

   Options Database Keys: those of -mat_compound_*, listed by -help and in the README.
M*/
#define MATBAIJCOMPOUND "baijcompound"
#define MATSEQBAIJCOMPOUND "seqbaijcompound"
#define MATMPIBAIJCOMPOUND "mpibaijcompound"

/*MC
   MATAIJCOMPOUND = "aijcompound" - matrices assembled by single scalars, whose products run in blocks and in a layout
   and schedule of their own.

   A subclass of MATAIJ: all operations of MATAIJ work, algebraic multigrid (PCGAMG) included. MatSetBlockSizes() gives
   the block sizes, or else the plugin looks for blocks. Full blocks are multiplied on the host in the matrix's own
   arrays. "seqaijcompound" on one process, else "mpiaijcompound".

   Options Database Keys: those of -mat_compound_*, listed by -help and in the README.
M*/
#define MATAIJCOMPOUND "aijcompound"
#define MATSEQAIJCOMPOUND "seqaijcompound"
#define MATMPIAIJCOMPOUND "mpiaijcompound"

/*
   PCType: another name of PCPBJACOBI. For these types it inverts the diagonal blocks, packs the inverses and applies
   them where the vectors are. For matrices of other types it is PETSc's own.
*/
#define PCPBJACOBICOMPOUND "pbjacobicompound"

/*
   KSPTypes: KSPCG and KSPBCGS with iterations that run on a device by themselves if matrix, vectors and preconditioner
   allow it (docs/solvers.md).
*/
#define KSPCGCOMPOUND "cgcompound"
#define KSPBCGSCOMPOUND "bcgscompound"

/*
   Constructors of the same types with a pinned layout: MatGetType() says "seqbaijcompound" or "mpibaijcompound", or
   "seqaijcompound" or "mpiaijcompound". On an assembled compound matrix, MatSetType() or MatConvert() in place to one
   of these names pins the layout anew.
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

/* Counts of a compound matrix; for MPI types the sums over this process's diagonal and off-diagonal part. */
typedef struct {
  PetscInt64 products;       /* products by our own kernels, transposes included (not the base type's) */
  PetscInt64 pattern_packs;  /* times the integers of a layout were built */
  PetscInt64 value_packs;    /* times values were packed (always 0 if the plan uses the base type's arrays) */
  PetscInt64 stored_blocks;  /* entries of the pattern */
  PetscInt64 padding_blocks; /* slots of the layout that hold no entry */
  PetscInt64 parent_bytes;   /* bytes of the base type: values, columns, row starts */
  PetscInt64 packed_bytes;   /* bytes beside them, on the host and on a device: packed copies, values set on a device */
  PetscInt64 device_bytes;   /* of these, bytes on a device */
} MatCompoundInfo;

/* Registers the types, options and log events; loading by -dll_append calls it. May be called again. */
PETSC_EXTERN PetscErrorCode PetscCompoundInitialize(void);

/*
   The plan in use as one line, with "off: ..." for the off-diagonal part; "" before the first product, and if the base
   type makes the products. Not collective; the string belongs to the matrix and is valid until its next product.
*/
PETSC_EXTERN PetscErrorCode MatCompoundGetPlan(Mat A, const char* plan[]);

/*
   Set what the options -mat_compound_plan and _layout set; NULL means "auto". Setting a layout drops a plan that was
   set before. These functions, and MatCompoundSetEntry(), MatCompoundSetBackend() and MatCompoundTune(), are logically
   collective. Errors: PETSC_ERR_ARG_WRONG for an unknown word, PETSC_ERR_SUP for a backend that is missing. The next
   product checks whether the plan suits the matrix.
*/
PETSC_EXTERN PetscErrorCode MatCompoundSetPlan(Mat A, const char plan[]);
PETSC_EXTERN PetscErrorCode MatCompoundSetLayout(Mat A, const char layout[]);

/* Sets the kind of entry, as the option -mat_compound_entry: "auto" finds the kind, "dense" switches this off. */
PETSC_EXTERN PetscErrorCode MatCompoundSetEntry(Mat A, const char entry[]);

/* Sets the backend: "auto", "host", "cuda" or "petsc" (the base type's own product). */
PETSC_EXTERN PetscErrorCode MatCompoundSetBackend(Mat A, const char backend[]);

/*
   Sets how a plan is found, as the option -mat_compound_tune: "off", "wisdom", "measure" or "exhaustive"; NULL means
   "off". The next product finds the plan and packs the matrix again. MatCompoundGetPlan() and MatView() then show it.
*/
PETSC_EXTERN PetscErrorCode MatCompoundTune(Mat A, const char effort[]);

/*
   The parts of a matrix on several processes ("mpibaijcompound"): the diagonal and the off-diagonal part, both
   "seqbaijcompound", and the global block column of each block column of the off-diagonal part. Any argument may be
   NULL. (MatMPIBAIJGetSeqBAIJ() does this for MATMPIBAIJ, and refuses types with another name.) The parts belong to A
   and are valid until its pattern changes. PETSC_ERR_ARG_WRONG for a matrix on one process, which is its own part. Not
   collective.
*/
PETSC_EXTERN PetscErrorCode MatCompoundGetSeqBAIJ(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt* columns[]);

/* Gets the counts of MatCompoundInfo. Not collective. */
PETSC_EXTERN PetscErrorCode MatCompoundGetInfo(Mat A, MatCompoundInfo* info);
