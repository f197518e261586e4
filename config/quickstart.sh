#!/usr/bin/env bash
# From a fresh machine to a comparison of matrix types on a real mesh:   bash config/quickstart.sh [-n RANKS]
#
# Installs what is missing (Debian 12, Ubuntu 24.04; root or sudo), builds, solves the elasticity example on its mesh
# with aij, baij and baijcompound, with cgcompound, and with algebraic multigrid, and prints one table. With PETSC_DIR
# (and PETSC_ARCH) set it uses that PETSc; if that has CUDA and a device is usable, baijcompound runs there, beside
# PETSc's aijcusparse.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

ranks=1
while getopts n: option; do
  case $option in
    n) ranks=$OPTARG ;;
    *) fail "usage: bash config/quickstart.sh [-n RANKS]" ;;
  esac
done

install_packages "${build_packages[@]}"
configure_and_build host AUTO petsccompound elasticity
types=aij,baij,baijcompound,baijcompound/cgcompound,aij//gamg,aijcompound//gamg
device=()
reason=$(why_no_gpu)
if [ -z "$reason" ]; then
  say "GPU: used by aijcusparse, baijcompound and aijcompound ($(nvidia-smi -L | head -1 | sed 's/ (UUID.*//'))"
  types=aij,baij,aijcusparse,baijcompound,baijcompound/cgcompound,aijcusparse//gamg,aijcompound//gamg
  device=(--device-types "aijcusparse,baijcompound,aijcompound")
else
  say "GPU: not used: $reason"
fi
say "solving elasticity on examples/data/bracket.msh, refined once, $ranks rank(s), three interleaved rounds"
python3 "$top/config/compare_types.py" --ranks "$ranks" --rounds 3 \
  --program "$build/examples/elasticity" --plugin "$build/plugin/libpetsccompound.so" \
  --types "$types" "${device[@]}" -- \
  -mesh "$top/examples/data/bracket.msh" -refine 1 -ksp_type cg -pc_type pbjacobi -ksp_rtol 1e-8
