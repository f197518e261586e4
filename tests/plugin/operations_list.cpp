// Prints what every Mat operation of the compound types above one parent is (COMPOUND_TEST_TYPE), for
// operations_table.py:
//   op <index> <seq> <mpi>            own, inherited, none
//   function <name> <seq> <mpi>       composed functions: the same, - where the type has none of that name
//   call <function> <seq> <mpi> <message>   error codes of a call on an assembled 6 x 6 matrix of 2 x 2 blocks
//   product <function> <operands> <seq> <mpi>   types of results, or refused
#include <petsc/private/matimpl.h>

#include <cstdio>
#include <map>
#include <string>

#include "calls.hpp"

namespace {

using namespace petsc_test;

std::string parent_of(const std::string& type) { return type.substr(0, type.rfind("compound")); }

const std::string ours[] = {"seq" + tested_type(), "mpi" + tested_type()};
const std::string parents[] = {parent_of(ours[0]), parent_of(ours[1])};

using Functions = std::map<std::string, void (*)(void)>;

Functions composed_functions(Mat A) {
  Functions all;
  const char** names = nullptr;
  int n = 0;
  PETSC_OK(PetscFunctionListGet(reinterpret_cast<PetscObject>(A)->qlist, &names, &n));
  for (int i = 0; i < n; ++i) {
    if (!names[i]) continue;  // removed
    void (*f)(void) = nullptr;
    PETSC_OK(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(A), names[i], &f));
    if (f) all[names[i]] = f;
  }
  PETSC_OK(PetscFree(names));
  return all;
}

/// "seqbaijcompound" and "mpibaijcompound" name one function each: MatConvert_<type>_seqaij.
std::string without_type(std::string name, const std::string& type) {
  if (!name.starts_with("MatConvert_")) return name;
  const auto at = name.find("_" + type + "_");
  if (at != std::string::npos) name.replace(at + 1, type.size(), "type");
  return name;
}

void print_operations(Mat (&a)[2], Mat (&parent)[2]) {
  const auto pointers = [](Mat A) { return reinterpret_cast<void* const*>(A->ops); };
  for (std::size_t i = 0; i < sizeof(_MatOps) / sizeof(void*); ++i) {
    std::printf("op %zu", i);
    for (int t = 0; t < 2; ++t) {
      const void *mine = pointers(a[t])[i], *theirs = pointers(parent[t])[i];
      std::printf(" %s", !mine ? "none" : mine == theirs ? "inherited" : "own");
    }
    std::printf("\n");
  }
}

void print_functions(Mat (&a)[2], Mat (&parent)[2]) {
  std::map<std::string, std::string> rows[2];
  for (int t = 0; t < 2; ++t) {
    const auto mine = composed_functions(a[t]), theirs = composed_functions(parent[t]);
    Functions inherited;
    for (const auto& [name, f] : theirs) inherited[without_type(name, parents[t])] = f;
    for (const auto& [name, f] : mine) {
      const auto plain = without_type(name, ours[t]);
      if (plain.find(parents[t]) != std::string::npos && plain == name && name.starts_with("MatConvert_")) continue;
      const auto found = inherited.find(plain);
      rows[t][plain] = found != inherited.end() && found->second == f ? "inherited" : "own";
    }
    for (const auto& [name, f] : inherited)
      if (!rows[t].count(name)) rows[t][name] = "lost";
  }
  for (int t = 0; t < 2; ++t)
    for (const auto& [name, state] : rows[t])
      if (t == 0 || !rows[0].count(name))
        std::printf("function %s %s %s\n", name.c_str(), t == 0 ? state.c_str() : "-",
                    rows[1].count(name) ? rows[1][name].c_str() : "-");
}

void print_calls() {
  for (const auto& call : calls()) {
    caught results[2];
    for (int t = 0; t < 2; ++t) {
      const auto A = matrix_for_calls(ours[t]);
      results[t] = catch_error([&] { return call.run(A); });
    }
    std::string message = results[results[0].code ? 0 : 1].message;
    for (char& c : message)
      if (c == '\n') c = ' ';
    std::printf("call %s %d %d %s\n", call.function, results[0].code, results[1].code, message.c_str());
  }
}

struct ProductOfUser {
  const char* function;
  MatProductType type;
};
constexpr ProductOfUser products[] = {{"MatMatMult", MATPRODUCT_AB},
                                      {"MatTransposeMatMult", MATPRODUCT_AtB},
                                      {"MatMatTransposeMult", MATPRODUCT_ABt},
                                      {"MatPtAP", MATPRODUCT_PtAP},
                                      {"MatRARt", MATPRODUCT_RARt},
                                      {"MatMatMatMult", MATPRODUCT_ABC}};

/// Of a matrix of ours, before the colon, with another.
constexpr const char* operands[] = {"own:dense", "own:aij", "own:baij", "own:own", "aij:own"};

Matrix operand(const std::string& kind, int t) {
  auto A = matrix_for_calls(ours[t]);
  if (kind == "own") return A;
  Matrix B;
  PETSC_OK(MatConvert(A, ((t == 0 ? "seq" : "mpi") + kind).c_str(), MAT_INITIAL_MATRIX, B.out()));
  return B;
}

std::string type_of_product(const ProductOfUser& product, const std::string& pair, int t) {
  const auto colon = pair.find(':');
  const auto A = operand(pair.substr(0, colon), t), B = operand(pair.substr(colon + 1), t);
  Matrix C;
  const auto could = catch_error([&] {
    PetscFunctionBegin;
    PetscCall(MatProductCreate(A, B, product.type == MATPRODUCT_ABC ? Mat(A) : nullptr, C.out()));
    PetscCall(MatProductSetType(C, product.type));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  if (could.code) {
    *C.in_place() = nullptr;  // half made
    return "refused";
  }
  MatType type;
  PETSC_OK(MatGetType(C, &type));
  return type;
}

void print_products() {
  for (const auto& product : products)
    for (const char* pair : operands)
      std::printf("product %s %s %s %s\n", product.function, pair, type_of_product(product, pair, 0).c_str(),
                  type_of_product(product, pair, 1).c_str());
}

TEST(Operations, List) {
  Matrix made[4];
  Mat a[2], parent[2];
  for (int t = 0; t < 2; ++t) {
    made[t] = matrix_for_calls(ours[t]);
    made[2 + t] = matrix_for_calls(parents[t]);
    a[t] = made[t];
    parent[t] = made[2 + t];
  }
  print_operations(a, parent);
  print_functions(a, parent);
  print_calls();
  print_products();
}

}  // namespace
