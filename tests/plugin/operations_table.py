#!/usr/bin/env python3
"""Makes docs/operations.md from a running PETSc: for every Mat operation own, inherited, or refused with the way out,
of the types above baij and above aij.

What is own or inherited comes from the function pointers of real matrices, what is refused from calls, the types of
products from products (operations_list.cpp, calls.cpp). By hand are only the names users know (NAMES), the ways out
(WAYS_OUT), and what is not for users (INSIDE). With --write the file is written; else it is compared with, if the PETSc
is the one the file tells of. With every PETSc an operation that is neither there, nor called, nor explained is an
error.
"""

import argparse
import os
import re
import subprocess
import sys
import textwrap

# Members of struct _MatOps whose function users know by another spelling than Mat<Member>.
NAMES = """
setvalues MatSetValues;getrow MatGetRow;restorerow MatRestoreRow;mult MatMult;multadd MatMultAdd
multtranspose MatMultTranspose;multtransposeadd MatMultTransposeAdd;lufactor MatLUFactor;sor MatSOR
choleskyfactor MatCholeskyFactor;ilufactor MatILUFactor;iccfactor MatICCFactor
transpose MatTranspose;getinfo MatGetInfo;equal MatEqual;getdiagonal MatGetDiagonal;diagonalscale MatDiagonalScale
norm MatNorm;assemblybegin MatAssemblyBegin;assemblyend MatAssemblyEnd;setoption MatSetOption
zeroentries MatZeroEntries;zerorows MatZeroRows;setup MatSetUp;getdiagonalblock MatGetDiagonalBlock;setinf MatSetInf
duplicate MatDuplicate;axpy MatAXPY;createsubmatrices MatCreateSubMatrices;increaseoverlap MatIncreaseOverlap
getvalues MatGetValues;copy MatCopy;getrowmax MatGetRowMax;scale MatScale;shift MatShift;diagonalset MatDiagonalSet
zerorowscolumns MatZeroRowsColumns;setrandom MatSetRandom;getrowij MatGetRowIJ;restorerowij MatRestoreRowIJ
getcolumnij MatGetColumnIJ;restorecolumnij MatRestoreColumnIJ;fdcoloringcreate MatFDColoringCreate
coloringpatch MatColoringPatch;setunfactored MatSetUnfactored;permute MatPermute;setvaluesblocked MatSetValuesBlocked
createsubmatrix MatCreateSubMatrix;destroy MatDestroy;view MatView;convertfrom MatConvert (to the type)
setlocaltoglobalmapping MatSetLocalToGlobalMapping;setvalueslocal MatSetValuesLocal;zerorowslocal MatZeroRowsLocal
getrowmaxabs MatGetRowMaxAbs;getrowminabs MatGetRowMinAbs;convert MatConvert (to any type)
fdcoloringapply MatFDColoringApply
setfromoptions MatSetFromOptions;findzerodiagonals MatFindZeroDiagonals;load MatLoad;issymmetric MatIsSymmetric
ishermitian MatIsHermitian;isstructurallysymmetric MatIsStructurallySymmetric
setvaluesblockedlocal MatSetValuesBlockedLocal
getvecs MatCreateVecs;createvecs MatCreateVecs;conjugate MatConjugate;setvaluesrow MatSetValuesRow;realpart MatRealPart
imaginarypart MatImaginaryPart;getrowuppertriangular MatGetRowUpperTriangular
restorerowuppertriangular MatRestoreRowUpperTriangular;getrowmin MatGetRowMin;getcolumnvector MatGetColumnVector
missingdiagonal MatMissingDiagonal;getseqnonzerostructure MatGetSeqNonzeroStructure;getghosts MatGetGhosts
getlocalsubmatrix MatGetLocalSubMatrix;restorelocalsubmatrix MatRestoreLocalSubMatrix
multdiagonalblock MatMultDiagonalBlock;hermitiantranspose MatHermitianTranspose
multhermitiantranspose MatMultHermitianTranspose;multhermitiantransposeadd MatMultHermitianTransposeAdd
getmultiprocblock MatGetMultiProcBlock;findnonzerorows MatFindNonzeroRows;getcolumnreductions MatGetColumnNorms
invertblockdiagonal MatInvertBlockDiagonal;invertvariableblockdiagonal MatInvertVariableBlockDiagonal
createsubmatricesmpi MatCreateSubMatricesMPI;setblocksizes MatSetBlockSizes;aypx MatAYPX;residual MatResidual
fdcoloringsetup MatFDColoringSetUp;findoffblockdiagonalentries MatFindOffBlockDiagonalEntries
creatempimatconcatenateseqmat MatCreateMPIMatConcatenateSeqMat;destroysubmatrices MatDestroySubMatrices
getvalueslocal MatGetValuesLocal;creategraph MatCreateGraph;transposesymbolic MatTransposeSymbolic
eliminatezeros MatEliminateZeros;getrowsumabs MatGetRowSumAbs;zerorowscolumnslocal MatZeroRowsColumnsLocal
bindtocpu MatBindToCPU;getordering MatGetOrdering;selectvariableblocksizes MatSelectVariableBlockSizes
copyhashtoxaij MatCopyHashToXAIJ;getcurrentmemtype MatGetCurrentMemType;adot MatADot;anorm MatANorm
"""

FAMILIES = ("baijcompound", "aijcompound")

# Operations that neither a base type nor the compound type has and that are not called by users on such a matrix.
INSIDE = {
    "of a factored matrix, from "
    "MatGetFactor()": """solve solveadd solvetranspose solvetransposeadd matsolve matsolvetranspose
        mattransposesolve solves getinertia forwardsolve backwardsolve setunfactored lufactorsymbolic lufactornumeric
        choleskyfactorsymbolic choleskyfactornumeric ilufactorsymbolic iccfactorsymbolic choleskyfactor iccfactor
        getfactor""",
    "of MatProduct (see Products of "
    "matrices)": """matmatmultsymbolic matmatmultnumeric matmultsymbolic matmultnumeric ptapsymbolic
        ptapnumeric mattransposemultsymbolic mattransposemultnumeric transposematmultsymbolic transposematmultnumeric
        rartsymbolic rartnumeric productsetfromoptions productsymbolic productnumeric transposecoloringcreate
        transcoloringapplysptoden transcoloringapplydentosp mults""",
    "inside PETSc, or for other matrix "
    "types": """hasoperation setvaluesadifor setinf bindtocpu viewnative create
        setvaluesbatch dummy coloringpatch getblockdiagonal getvblockdiagonal copyhashtoxaij getcurrentmemtype
        getordering selectvariableblocksizes convert""",
    "done by PETSc "
    "itself": """setlocaltoglobalmapping setvaluesblocked setvaluesblockedlocal getvecs createvecs restorelocalsubmatrix
        restorerowuppertriangular assemblybegin destroysubmatrices restorerowij getcolumnij restorecolumnij adot anorm
        adot_local anorm_local""",
}

WAYS_OUT = {
    "MatGetRowMax": "MatConvert() to aij", "MatGetRowMin": "MatConvert() to aij",
    "MatGetRowMinAbs": "MatConvert() to aij",
    "MatGetRowMaxAbs": "MatConvert() to aij", "MatGetRowSumAbs": "MatConvert() to aij",
    "MatSetRandom": "MatSetRandom() of an aij, then MatConvert()", "MatSetInf": "an aid of PETSc for debugging",
    "MatMultDiagonalBlock": "MatGetDiagonalBlock(), then MatMult()",
    "MatFindOffBlockDiagonalEntries": "MatConvert() to aij",
    "MatIsSymmetric": "MatTranspose(), then MatMultEqual(); or MatConvert() to aij",
    "MatIsHermitian": "MatHermitianTranspose(), then MatMultEqual()",
    "MatIsStructurallySymmetric": "MatTranspose(), then MatGetRowIJ() of both",
    "MatIsTranspose": "MatMultTransposeEqual()",
    "MatTransposeSymbolic": "MatTranspose()",
    "MatCreateSubMatricesMPI": "MatCreateSubMatrices(); for PCGASM use PCASM",
    "MatGetMultiProcBlock": "on one process the matrix itself",
    "MatInvertVariableBlockDiagonal": "MatConvert() to aij (PCVPBJACOBI with an aij Pmat)",
    "MatSetValuesRow": "MatSetValues()", "MatGetRowIJ": "of MatCompoundGetSeqBAIJ()'s parts, or MatGetRow()",
    "MatLUFactor": "MatGetFactor() of MUMPS; bjacobi or asm with -sub_pc_type lu",
    "MatILUFactor": "bjacobi or asm with -sub_pc_type ilu",
    "MatGetSeqNonzeroStructure": "on one process the matrix itself",
    "MatCreateGraph": "-mat_type aijcompound; or the split Amat = baijcompound, Pmat = aij: -pmat_type aij in "
    "examples/elasticity.c",
    "MatFindZeroDiagonals": "MatGetDiagonal()", "MatFindNonzeroRows": "MatConvert() to aij",
    "MatGetColumnVector": "MatMult() with a unit vector",
}

PRODUCTS = {
    "baijcompound": """With a dense B, MatMatMult and, on one process, MatMatTransposeMult multiply several
columns at once. So does MatTransposeMatMult on a device with one process; elsewhere it goes column by column. Each
column has the bits of MatMult(), or MatMultTranspose(), with that column. Coordinates and diagonals go column by column
on devices. All others are PETSc's, of AIJ copies, which the product keeps for MatProductNumeric() with new
values. Types of the results:""",
    "aijcompound": """On the host MatMatMult and MatPtAP of operands of full blocks go block by block, on a device those
of one process, by kernels there ([multigrid.md](multigrid.md#what-runs-where)). With a dense B several columns are
multiplied at once, as above; on the host where blocks have more than one scalar. All others are PETSc's of aij. Types
of the results:""",
}

SUBMATRICES = """MatCreateSubMatrix() of whole blocks makes a matrix of the type. For `baijcompound`, index sets that
cut blocks or reorder within them (PCFIELDSPLIT within blocks) make an aij; on several processes their columns must be
sorted. MatCreateSubMatrices() (PCASM) needs whole blocks, as with baij. MatPermute() takes any permutation and makes an
aij. `aijcompound` takes any index sets. Its submatrices are of the type, and so is the result of MatPermute() on one
process (aij on several)."""

PRECONDITIONERS = """## Preconditioners

`aijcompound` works with every preconditioner and every factorization package that works with aij. For `baijcompound`:

| -pc_type | works | otherwise |
|---|---|---|
| jacobi, pbjacobi, sor, bjacobi, asm, ksp, composite, redundant, telescope | on any number of processes | |
| redistribute, svd, mg, hmg, hypre | on any number of processes | |
| ilu, icc, lu, cholesky by PETSc | on one process | bjacobi, asm |
| lu by MUMPS | on any number of processes | |
| fieldsplit | also within blocks, where baij refuses | |
| gasm | on one process | asm |
| gamg, ml | with `Amat = baijcompound, Pmat = aij` | -mat_type aijcompound; -pmat_type aij in examples/elasticity.c |
| cholesky by MUMPS; superlu, superlu_dist, umfpack, klu, cholmod | with Pmat = aij | error of PETSc naming the type |
| vpbjacobi, eisenstat, cp, tfs, bddc | as for baij: error of PETSc | Pmat = aij, MATIS for bddc |"""


def names():
    return dict(row.split(" ", 1) for line in NAMES.strip().splitlines() for row in line.split(";"))


def members(header):
    with open(header) as file:
        body = re.search(r"struct _MatOps \{(.*?)\n\};", file.read(), re.S).group(1)
    return re.findall(r"\(\*(\w+)\)\(", body)


def listing(program, mat_type):
    done = subprocess.run([program], capture_output=True, text=True, env=dict(os.environ, COMPOUND_TEST_TYPE=mat_type))
    if done.returncode:
        sys.exit(f"{program} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    lines = done.stdout.splitlines()

    def rows(word):
        return [line.split(" ", 4)[1:] for line in lines if line.startswith(word + " ")]

    return rows("op"), rows("function"), {row[0]: row[1:] for row in rows("call")}, rows("product")


def composed_name(name):
    name = name.removesuffix("_C")
    found = re.fullmatch(r"MatConvert_type_(.*)", name)
    if found:
        return f"MatConvert to {found.group(1)}"
    found = re.fullmatch(r"MatProductSetFromOptions_(.*)", name)
    if not found:
        return name
    return (
        "MatProduct with sparse matrices" if found.group(1) == "anytype"
        else f"MatProduct of {found.group(1).replace('_', ', ')}"
    )


def base_of(mat_type):
    return mat_type.removesuffix("compound")


def table(header, rows):
    rule = "|" + "---|" * header.count("|")
    return "\n".join([f"| {header}", rule] + [f"| {' | '.join(row)} |" for row in rows])


def result(seq, mpi):
    """The type of a product, of the seq and of the mpi matrices."""
    on_one, on_several = (text if text == "refused" else f"`{text[3:]}`" for text in (seq, mpi))
    return on_one if on_one == on_several else f"{on_one}, on several processes {on_several}"


def products_table(mat_type, products):
    columns = {"own:dense": "with dense", "own:aij": "with `aij`", "own:baij": "with `baij`",
               "own:own": f"with `{mat_type}`",
               "aij:own": f"of `aij` with `{mat_type}`"}
    functions = list(dict.fromkeys(function for function, *_ in products))
    results = {(function, pair): result(seq, mpi) for function, pair, seq, mpi in products}
    rows = [(function, *(results[function, pair] for pair in columns)) for function in functions]
    return table(" | ".join(["product", *columns.values()]) + " |", rows)


def classify(args, mat_type):
    ops, functions, calls, products = listing(args.program, mat_type)
    member_of, known = members(args.header), names()
    inside = {member: why for why, list_ in INSIDE.items() for member in list_.split()}
    if len(member_of) != len(ops):
        sys.exit(f"{args.header} has {len(member_of)} operations, the program lists {len(ops)}: another PETSc?")
    there, explained, unknown = {}, {}, []
    words = {"own": "own", "inherited": base_of(mat_type), "none": "", "-": "", "lost": ""}
    for index, seq, mpi, *_ in ops:
        member = member_of[int(index)]
        name = known.get(member)
        refused_by_us = name in calls and "0" not in calls[name][:2]
        is_there = {"own", "inherited"} & {seq, mpi}
        if is_there and not refused_by_us and (name or member not in inside):
            there[name or member] = (words[seq], words[mpi])
        elif member in inside and name not in calls:
            explained.setdefault(inside[member], set()).add(name or member)
        elif not is_there and name not in calls and not member.startswith("placeholder"):
            unknown.append(f"{member} ({index})")
    for function, seq, mpi, *_ in functions:
        there[composed_name(function)] = (words[seq], words[mpi])
        if "lost" in (seq, mpi) and not function.startswith("MatProductSetFromOptions"):
            unknown.append(f"{function} of {base_of(mat_type)} is lost")
    refused, general = [], []
    for name, (seq, mpi, *message) in calls.items():
        if (seq, mpi) == ("0", "0"):
            if name not in there:
                general.append(name)
            continue
        if name not in WAYS_OUT:
            unknown.append(f"{name} is refused ({' '.join(message)}), and no way out is given")
        where = "both" if "0" not in (seq, mpi) else "seq" if mpi == "0" else "mpi"
        text = re.sub(f"(seq|mpi){mat_type}", "...", " ".join(message).split(".")[0].replace("|", "/"))
        refused.append((name, where, text or "done = PETSC_FALSE", WAYS_OUT.get(name, "")))
    return there, explained, general, refused, products, unknown


def refusals(mat_type, refused):
    return [f"### {mat_type} refuses",
            f"With PETSC_ERR_SUP and this message; {base_of(mat_type)} refuses them as well.",
            table("function | on | message | way out |", sorted(refused))]


def functions(mat_type, there, explained, general):
    rows = sorted((name, *states) for name, states in there.items())
    conversions = [row for row in rows if row[0].startswith("MatConvert")]
    return [
        f"### Functions of {mat_type}",
        f"*own*: a function of this plugin overrides the base type's. *{base_of(mat_type)}*: the base type's function "
        "is used. Empty: the type has no such function; PETSc's general method answers, or the function is refused.",
        table("function | seq | mpi |", [row for row in rows if row not in conversions]),
        "PETSc's general methods answer: " + ", ".join(sorted(general)) + ".",
        "Conversions:", table("function | seq | mpi |", conversions),
        "Not called by users:",
        "\n".join(f"- {why}: {', '.join(sorted(list_))}" for why, list_ in sorted(explained.items())),
    ]


def filled(paragraph):
    """At most 120 columns, but for tables; each item of a list by itself."""
    if paragraph.startswith(("|", "#")) or "\n|" in paragraph:
        return paragraph
    items = paragraph.split("\n") if paragraph.startswith("- ") else [" ".join(paragraph.split())]
    return "\n".join(textwrap.fill(item, 120, subsequent_indent="  " * item.startswith("- "), break_long_words=False,
                                   break_on_hyphens=False) for item in items)


def document(args, parts):
    paragraphs = [
        "# Operations",
        "Which operations of PETSc work on `baijcompound` and `aijcompound`: first preconditioners, then what is "
        "refused and the way out, then products and submatrices, and at the end "
        "every function. Matrices on one process are "
        "*seq*, on several *mpi*.",
        "Made by `tests/plugin/operations_table.py --write` with PETSc "
        f"{args.petsc}, real scalars, from the function pointers of real matrices and from calls; a test compares "
        "this file with them.",
        PRECONDITIONERS, "## What is refused",
    ]
    for mat_type, (_, _, _, refused, _) in parts.items():
        paragraphs += refusals(mat_type, refused)
    paragraphs.append("## Products of matrices")
    for mat_type, (*_, products) in parts.items():
        paragraphs += [f"### Products of {mat_type}", PRODUCTS[mat_type], products_table(mat_type, products)]
    paragraphs += ["## Submatrices", SUBMATRICES, "## All functions"]
    for mat_type, (there, explained, general, _, _) in parts.items():
        paragraphs += functions(mat_type, there, explained, general)
    return "\n\n".join(map(filled, paragraphs)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "header", "petsc", "docs"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--compare", action="store_true", help="the file is for this PETSc")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    parts = {}
    for mat_type in FAMILIES:
        *parts[mat_type], unknown = classify(args, mat_type)
        if unknown:
            sys.exit(f"nothing is said of {mat_type}'s " + "; ".join(unknown))
    text = document(args, parts)
    if args.write:
        with open(args.docs, "w") as file:
            file.write(text)
    elif args.compare:
        with open(args.docs) as file:
            if file.read() != text:
                sys.exit(f"{args.docs} does not say what this PETSc does; write it again with --write")
    for mat_type, (there, _, general, refused, _) in parts.items():
        print(f"{mat_type}: {len(there)} own or inherited, {len(general)} general, {len(refused)} refused")


if __name__ == "__main__":
    main()
