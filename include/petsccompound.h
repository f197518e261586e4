/*
   petsc-compound: PETSc matrix types whose entries are compound (dense blocks and other small fixed-size algebras).

   Applications do not need this header: `-dll_append <path>/libpetsccompound.so -mat_type baijcompound` is enough.
   With it a program can set and query from code what the options set on the command line.
*/
#ifndef PETSCCOMPOUND_H
#define PETSCCOMPOUND_H

#include <petscmat.h>

/*MC
   MATBAIJCOMPOUND - MATBAIJCOMPOUND = "baijcompound" - A matrix type for block sparse matrices whose products run in a
   layout and schedule that are chosen for the matrix, on the host or on a GPU.

   Options Database Keys:
+  -mat_type baijcompound - sets the matrix type to `MATBAIJCOMPOUND` in `MatSetFromOptions()`
.  -mat_compound_layout <auto> - layout of packed storage
.  -mat_compound_tune <off> - how a plan is found: off, model, wisdom, measure, exhaustive
-  -mat_compound_view - prints the plan when a matrix has been packed

   Level: beginner

   Notes:
   A subclass of `MATBAIJ`: all operations of `MATBAIJ` work. `MatGetType()` says "seqbaijcompound" on one process, else
   "mpibaijcompound".

   Set the block size (`MatSetBlockSize()`) before the matrix is preallocated. With blocks of 1 x 1 nothing is gained.

   There are more options: docs/reference/options.md, and -help.

.seealso: `MATBAIJ`, `MATAIJCOMPOUND`, `MatCompoundGetPlan()`, `MatCompoundSetPlan()`, `MatCompoundTune()`,
          `MatCompoundGetInfo()`
M*/
#define MATBAIJCOMPOUND "baijcompound"
#define MATSEQBAIJCOMPOUND "seqbaijcompound"
#define MATMPIBAIJCOMPOUND "mpibaijcompound"

/*MC
   MATAIJCOMPOUND - MATAIJCOMPOUND = "aijcompound" - A matrix type for matrices that are assembled by single scalars and
   have blocks; products run in these blocks.

   Options Database Keys:
+  -mat_type aijcompound - sets the matrix type to `MATAIJCOMPOUND` in `MatSetFromOptions()`
.  -mat_compound_layout <auto> - layout of packed storage
.  -mat_compound_tune <off> - how a plan is found: off, model, wisdom, measure, exhaustive
-  -mat_compound_view - prints the plan when a matrix has been packed

   Level: beginner

   Notes:
   A subclass of `MATAIJ`: all operations of `MATAIJ` work, algebraic multigrid (`PCGAMG`) included. `MatGetType()` says
   "seqaijcompound" on one process, else "mpiaijcompound".

   `MatSetBlockSizes()` gives the sizes of the blocks; without it the plugin looks for blocks in the rows. Full blocks
   are multiplied on the host in the matrix's own arrays. A matrix without blocks keeps the products of `MATAIJ`.

   There are more options: docs/reference/options.md, and -help.

.seealso: `MATAIJ`, `MATBAIJCOMPOUND`, `PCGAMG`, `MatCompoundGetPlan()`, `MatCompoundSetPlan()`, `MatCompoundGetInfo()`
M*/
#define MATAIJCOMPOUND "aijcompound"
#define MATSEQAIJCOMPOUND "seqaijcompound"
#define MATMPIAIJCOMPOUND "mpiaijcompound"

/*MC
   MATSBAIJCOMPOUND - MATSBAIJCOMPOUND = "sbaijcompound" - A matrix type for symmetric block sparse matrices; it
   stores the upper triangle.

   Options Database Keys:
+  -mat_type sbaijcompound - sets the matrix type to `MATSBAIJCOMPOUND` in `MatSetFromOptions()`
.  -mat_compound_layout <auto> - layout of packed storage
-  -mat_compound_view - prints the plan when a matrix has been packed

   Level: beginner

   Notes:
   A subclass of `MATSBAIJ`: all operations of `MATSBAIJ` work. `MatGetType()` says "seqsbaijcompound" on one process,
   else "mpisbaijcompound".

   On the host products read the matrix's own arrays, each block once for both triangles, so that nothing is packed. On
   a GPU, and in a layout that is asked for by name, both triangles are packed.

   With complex scalars the matrix is Hermitian after `MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE)`, else symmetric.

   There are more options: docs/reference/options.md, and -help.

.seealso: `MATSBAIJ`, `MATBAIJCOMPOUND`, `MatCompoundGetPlan()`, `MatCompoundSetPlan()`, `MatCompoundGetInfo()`
M*/
#define MATSBAIJCOMPOUND "sbaijcompound"
#define MATSEQSBAIJCOMPOUND "seqsbaijcompound"
#define MATMPISBAIJCOMPOUND "mpisbaijcompound"

/*MC
   PCPBJACOBICOMPOUND - PCPBJACOBICOMPOUND = "pbjacobicompound" - Point block Jacobi preconditioner; another name of
   `PCPBJACOBI`.

   Options Database Key:
.  -pc_type pbjacobicompound - sets the preconditioner in `PCSetFromOptions()`

   Level: beginner

   Note:
   For matrices of the types of this plugin, `PCPBJACOBI` inverts the diagonal blocks, packs the inverses and applies
   them in the memory space of the vectors. For matrices of other types it is PETSc's own.

.seealso: `PCPBJACOBI`, `MATBAIJCOMPOUND`, `MATAIJCOMPOUND`, `KSPCGCOMPOUND`
M*/
#define PCPBJACOBICOMPOUND "pbjacobicompound"

/*MC
   KSPCGCOMPOUND - KSPCGCOMPOUND = "cgcompound" - The preconditioned conjugate gradient method, `KSPCG`, with iterations
   that run on a device without the host.

   Options Database Keys:
+  -ksp_type cgcompound - sets the solver in `KSPSetFromOptions()`
.  -ksp_compound_loop <auto> - how iterations run on a device: auto, graphs, persistent, persistent2
-  -ksp_cgcompound_reductions <2> - reductions of an iteration, 1 or 2, when the solve is not entirely on one GPU

   Level: beginner

   Note:
   This needs a matrix of a type of this plugin on a device, vectors in device memory, and the preconditioner `PCNONE`,
   `PCJACOBI` or `PCPBJACOBI`. Otherwise iterations run one operation at a time, as PETSc's do; the view says why.

.seealso: `KSPCG`, `KSPBCGSCOMPOUND`, `MATBAIJCOMPOUND`, `PCPBJACOBICOMPOUND`
M*/
#define KSPCGCOMPOUND "cgcompound"

/*MC
   KSPBCGSCOMPOUND - KSPBCGSCOMPOUND = "bcgscompound" - The stabilised bi-conjugate gradient method, `KSPBCGS`, with
   iterations that run on a device without the host.

   Options Database Keys:
+  -ksp_type bcgscompound - sets the solver in `KSPSetFromOptions()`
-  -ksp_compound_loop <auto> - how iterations run on a device: auto, graphs, persistent, persistent2

   Level: beginner

   Note:
   This needs a matrix of a type of this plugin on a device, vectors in device memory, and the preconditioner `PCNONE`,
   `PCJACOBI` or `PCPBJACOBI`. Otherwise iterations run one operation at a time, as PETSc's do; the view says why.

.seealso: `KSPBCGS`, `KSPCGCOMPOUND`, `MATBAIJCOMPOUND`, `PCPBJACOBICOMPOUND`
M*/
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
#define MATSBAIJCOMPOUNDCSR "sbaijcompoundcsr"
#define MATSBAIJCOMPOUNDELLR "sbaijcompoundellr"
#define MATSBAIJCOMPOUNDSELL "sbaijcompoundsell"
#define MATSBAIJCOMPOUNDBELLPACK "sbaijcompoundbellpack"
#define MATSBAIJCOMPOUNDDIA "sbaijcompounddia"
#define MATSBAIJCOMPOUNDHDIA "sbaijcompoundhdia"
#define MATSBAIJCOMPOUNDCCOO "sbaijcompoundccoo"

/*S
   MatCompoundInfo - Counts of products and packing, and sizes of a matrix on this process. On several processes each is
   the sum over the diagonal and the off-diagonal part of the process.

   Level: intermediate

   Note:
   Later releases may add members at the end; programs that were compiled before go on to work.

.seealso: `MatCompoundGetInfo()`
S*/
typedef struct {
  PetscInt64 products;       /* products by kernels of this plugin, with transposes (not those of the base type) */
  PetscInt64 pattern_packs;  /* times the integers of a layout were built */
  PetscInt64 value_packs;    /* times values were packed (always 0 if the plan uses the base type's arrays) */
  PetscInt64 stored_blocks;  /* entries of the pattern */
  PetscInt64 padding_blocks; /* slots of the layout that hold no entry */
  PetscInt64 base_bytes;     /* bytes of the base type: values, columns, row starts */
  PetscInt64 packed_bytes;   /* bytes beside them, on host and device: packed storage, values set on a device */
  PetscInt64 device_bytes;   /* of these, bytes on a device */
} MatCompoundInfo;

/*@C
   PetscCompoundInitialize - Registers the types, options and log events of this plugin.

   Collective

   Level: intermediate

   Note:
   Loading by -dll_append calls it. A program that links the plugin calls it after `PetscInitialize()`. Later calls do
   nothing, and are not collective.

.seealso: `MATBAIJCOMPOUND`, `MATAIJCOMPOUND`, `KSPCGCOMPOUND`, `PCPBJACOBICOMPOUND`
@*/
PETSC_EXTERN PetscErrorCode PetscCompoundInitialize(void);

/*@C
   MatCompoundGetPlan - Gets the plan in use as one line.

   Not Collective

   Input Parameter:
.  A - the matrix, of a type of this plugin

   Output Parameter:
.  plan - the line; the string belongs to the matrix and is valid until its next product

   Level: intermediate

   Note:
   "" before the first product, and if the base type makes the products. On several processes "off: ..." begins the plan
   of the off-diagonal part.

.seealso: `MatCompoundSetPlan()`, `MatCompoundTune()`, `MatCompoundGetInfo()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundGetPlan(Mat A, const char* plan[]);

/*@C
   MatCompoundSetPlan - Sets the plan, as the option -mat_compound_plan does.

   Logically Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin
-  plan - a plan as one line, as views print it; `NULL` or "auto": the default plan

   Level: intermediate

   Note:
   `PETSC_ERR_ARG_WRONG` for an unknown keyword. The next product checks whether the plan suits the matrix.

.seealso: `MatCompoundGetPlan()`, `MatCompoundSetLayout()`, `MatCompoundTune()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundSetPlan(Mat A, const char plan[]);

/*@C
   MatCompoundSetLayout - Sets the layout, as the option -mat_compound_layout does.

   Logically Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin
-  layout - a layout such as "sell:32"; `NULL` or "auto": that of the default heuristic

   Level: intermediate

   Note:
   It drops a plan that was set before. `PETSC_ERR_ARG_WRONG` for an unknown layout. The next product checks whether the
   layout suits the matrix.

.seealso: `MatCompoundSetPlan()`, `MatCompoundGetPlan()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundSetLayout(Mat A, const char layout[]);

/*@C
   MatCompoundSetEntry - Sets the block format, as the option -mat_compound_entry does.

   Logically Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin
-  entry - the block format; "auto" detects it, "dense" turns the detection off

   Level: intermediate

   Note:
   `PETSC_ERR_ARG_WRONG` for an unknown block format. If the blocks do not have the format, the next product is an
   error.

.seealso: `MatCompoundGetPlan()`, `MatCompoundSetPlan()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundSetEntry(Mat A, const char entry[]);

/*@C
   MatCompoundSetBackend - Sets where products run, as the option -mat_compound_backend does.

   Logically Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin
-  backend - "auto" (the memory space of the vectors), "host", "cuda" or "petsc" (the product of the base type)

   Level: intermediate

   Note:
   `PETSC_ERR_SUP` for a backend that is missing here.

.seealso: `MatCompoundGetPlan()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundSetBackend(Mat A, const char backend[]);

/*@C
   MatCompoundTune - Sets how a plan is found, as the option -mat_compound_tune does.

   Logically Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin
-  effort - "off", "model", "wisdom", "measure" or "exhaustive"; `NULL`: "off"

   Level: intermediate

   Note:
   The next product finds the plan and packs the matrix again. `MatCompoundGetPlan()` and `MatView()` then show it.

.seealso: `MatCompoundGetPlan()`, `MatCompoundSetPlan()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundTune(Mat A, const char effort[]);

/*@C
   MatCompoundGetSeqBAIJ - Gets the parts of a matrix on several processes.

   Not Collective

   Input Parameter:
.  A - the matrix, of type "mpibaijcompound"

   Output Parameters:
+  diagonal - the diagonal part, of type "seqbaijcompound"
.  off_diagonal - the off-diagonal part, of type "seqbaijcompound"
-  columns - the global block column of each block column of the off-diagonal part

   Level: advanced

   Notes:
   Any output may be `NULL`. The parts belong to A and are valid until its pattern changes. `PETSC_ERR_ARG_WRONG` for a
   matrix on one process, which is its own part.

   `MatMPIBAIJGetSeqBAIJ()` does this for `MATMPIBAIJ`, and refuses types with another name.

.seealso: `MATBAIJCOMPOUND`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundGetSeqBAIJ(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt* columns[]);

/*@C
   MatCompoundSetPreallocationCOO - Sets the coordinates of blocks, for values that `MatCompoundSetValuesCOO()` sets.

   Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin, with its sizes and its block size set
.  n - the number of blocks that this process gives
.  i - the block row of each block, of length `n`
-  j - the block column of each block, of length `n`

   Level: intermediate

   Notes:
   Block row 5 of a matrix with blocks of 3 x 3 has the rows 15, 16 and 17. The same coordinates by
   `MatSetPreallocationCOO()` are nine times as many.

   A block may be given more than once; its values are added up. A block with a negative index is ignored. A block may
   be in a row of another process, which is sent its values. The arrays may be in host or device memory, and are not
   needed after the call.

   `PETSC_ERR_ARG_OUTOFRANGE` for an index beyond the matrix; `PETSC_ERR_ARG_WRONG` for a matrix of another type;
   `PETSC_ERR_SUP` for blocks that are not square.

.seealso: `MatCompoundSetValuesCOO()`, `MatSetPreallocationCOO()`, `MatSetBlockSize()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundSetPreallocationCOO(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[]);

/*@C
   MatCompoundSetValuesCOO - Sets the values of the blocks whose coordinates `MatCompoundSetPreallocationCOO()` was
given.

   Collective

   Input Parameters:
+  A - the matrix
.  v - the values of the blocks in the order of their coordinates, each block by rows; `NULL` for zeros
-  mode - `INSERT_VALUES`: the sums replace all values of the matrix; `ADD_VALUES`: the sums are added to them

   Level: intermediate

   Notes:
   `v` has n * bs * bs scalars: scalar (r, c) of block k is v[(k * bs + r) * bs + c]. It may be in host or device
memory. Values of device memory stay there. Contributions to one block are added up in the order of their coordinates,
so that two calls give the same bits.

   The matrix is assembled after the call. `PETSC_ERR_ARG_WRONGSTATE` before the coordinates are set, and if the
   pattern of the matrix has changed since.

.seealso: `MatCompoundSetPreallocationCOO()`, `MatSetValuesCOO()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundSetValuesCOO(Mat A, const PetscScalar v[], InsertMode mode);

/*@C
   MatCompoundGetInfoSized - Gets counts and sizes of a matrix into a structure of a given size.

   Not Collective

   Input Parameters:
+  A - the matrix, of a type of this plugin
-  bytes - the size of `MatCompoundInfo` that the caller was compiled with

   Output Parameter:
.  info - the counts of this process

   Level: developer

   Note:
   `MatCompoundGetInfo()` calls it. Later releases may add members at the end of `MatCompoundInfo`: a program that was
   compiled with fewer gets those that it knows, and members that the plugin does not know are 0.

.seealso: `MatCompoundInfo`, `MatCompoundGetInfo()`
@*/
PETSC_EXTERN PetscErrorCode MatCompoundGetInfoSized(Mat A, MatCompoundInfo* info, size_t bytes);

/*@C
   MatCompoundGetInfo - Gets counts and sizes of a matrix.

   Not Collective

   Input Parameter:
.  A - the matrix, of a type of this plugin

   Output Parameter:
.  info - the counts of this process

   Level: intermediate

   Note:
   It is compiled into the program. What looks functions up by name takes `MatCompoundGetInfoSized()`.

.seealso: `MatCompoundInfo`, `MatCompoundGetInfoSized()`, `MatCompoundGetPlan()`
@*/
static inline PetscErrorCode MatCompoundGetInfo(Mat A, MatCompoundInfo* info) {
  return MatCompoundGetInfoSized(A, info, sizeof(*info));
}

#endif
