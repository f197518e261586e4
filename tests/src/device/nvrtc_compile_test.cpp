// The text of src/device through NVRTC: it compiles for a device, although no GPU is needed here.
#include <gtest/gtest.h>

#ifndef COMPOUND_HAVE_NVRTC

TEST(Nvrtc, CompilesTheDeviceText) { GTEST_SKIP() << "CMake found no CUDA toolkit with NVRTC"; }

#else

#include <nvrtc.h>

#include <string>
#include <vector>

#include "support/pairwise.hpp"

namespace compound::test {
namespace {

const std::string kernels = R"(
#include "diagonal.hpp"
#include "entry/complex.hpp"
#include "entry/dense.hpp"
#include "entry/quaternion.hpp"
#include "pack_values.hpp"
#include "spmv_rows.hpp"
#include "sum_lists.hpp"

using namespace compound;
using C = complex_number<double>;
using Cf = complex_number<float>;

template <class Product, Op op, Update update, int lanes>
__global__ void __launch_bounds__(128, 8) multiply(const __grid_constant__ Product p) {
  const int worker = blockIdx.x * blockDim.x + threadIdx.x;
  if (worker / lanes < p.slices.positions) multiply_row<op, update, lanes>(p, worker / lanes, worker % lanes);
}

template <class Packing>
__global__ void __launch_bounds__(128, 8) pack(const __grid_constant__ Packing p) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position < p.slices.positions) pack_row(p, position);
}

template <class Entry>
__global__ void misfits(const typename Entry::scalar* blocks, int* found, Entry entry) {
  if (!fits(entry, full_block<typename Entry::scalar>{blocks, entry.rows()})) *found = 1;
}

template <class Entry, class Stored, class Slices, class MatrixWords>
__global__ void take_diagonal(const __grid_constant__ DiagonalArgs args) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position < args.positions) write_diagonal<Entry, Stored, Slices, MatrixWords>(args, position);
}

template <class Entry, class Stored, class Slices, class MatrixWords>
__global__ void take_inverses(const __grid_constant__ DiagonalArgs args) {
  const int position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position < args.positions) invert_diagonal<Entry, Stored, Slices, MatrixWords>(args, position);
}

template <class S, Update update>
__global__ void add_up(const __grid_constant__ SumArgs args) {
  const slot_t s = blockIdx.x * slot_t(blockDim.x) + threadIdx.x;
  if (s < args.sums) sum_list<S, update>(args, s);
}
)";

/// Entry and the scalar its words are stored as.
const std::vector<std::pair<std::string, std::string>> entries = {
    {"dense<double, 3, 3>", "double"},
    {"dense<double, 4, 4>", "float"},
    {"complex_entry<double>", "double"},
    {"quaternion<double>", "double"},
    {"quaternion<C>", "double"},
    {"dense<C, 3, 3>", "C"},
    {"dense<C, 2, 5>", "Cf"},
    {"dense<float, dynamic, dynamic>", "float"},
};
const std::vector<std::string> slice_forms = {"slices<1, Occupancy::lengths>", "slices<32, Occupancy::lengths>",
                                              "slices<32, Occupancy::presence>", "slices<dynamic, Occupancy::any>"};
const std::vector<std::string> groups = {"1", "32", "all_items", "dynamic"};
const std::vector<std::string> orders = {"WordOrder::row", "WordOrder::column"};
const std::vector<std::string> operations = {"Op::none", "Op::transpose", "Op::hermitian"};
const std::vector<std::string> updates = {"Update::assign", "Update::add"};
const std::vector<std::string> lanes = {"1", "2", "8", "32"};

int size_of(const auto& values) { return static_cast<int>(values.size()); }

/// Names of kernels such that any two of the values above meet in one of them.
std::vector<std::string> kernel_names() {
  const Space space{{size_of(entries), size_of(slice_forms), size_of(groups), size_of(orders), size_of(operations),
                     size_of(updates), size_of(lanes), size_of(groups)},
                    [](const Choice&) { return true; },
                    {}};
  std::vector<std::string> names;
  for (const Choice& c : covering_set(space, 1)) {
    const auto& [entry, stored] = entries[c[0]];
    const std::string form =
        entry + ", " + stored + ", " + slice_forms[c[1]] + ", matrix_words<" + groups[c[2]] + ", " + orders[c[3]] + ">";
    names.push_back("multiply<product<" + form + ", vector_words<" + groups[c[7]] + ">>, " + operations[c[4]] + ", " +
                    updates[c[5]] + ", " + lanes[c[6]] + ">");
    names.push_back("pack<packing<" + form + ">>");
    names.push_back("take_diagonal<" + form + ">");
    names.push_back("take_inverses<" + form + ">");
  }
  for (const auto& [entry, stored] : entries) names.push_back("misfits<" + entry + ">");
  for (const char* scalar : {"float", "double", "Cf", "C"})
    for (const auto& update : updates) names.push_back(std::string("add_up<") + scalar + ", " + update + ">");
  return names;
}

class Program {
 public:
  explicit Program(const std::string& text) {
    EXPECT_EQ(nvrtcCreateProgram(&program_, text.c_str(), "nvrtc_compile_test.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  }
  Program(const Program&) = delete;
  ~Program() { nvrtcDestroyProgram(&program_); }

  bool instantiate(const std::string& kernel) {
    return nvrtcAddNameExpression(program_, kernel.c_str()) == NVRTC_SUCCESS;
  }
  bool compile(const std::vector<const char*>& options) {
    return nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS;
  }
  std::string log() const {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program_, &size);
    std::string text(size, '\0');
    nvrtcGetProgramLog(program_, text.data());
    text.erase(text.find_last_not_of(std::string("\0\n", 2)) + 1);
    return text;
  }
  std::string cubin() const {
    std::size_t size = 0;
    if (nvrtcGetCUBINSize(program_, &size) != NVRTC_SUCCESS) return {};
    std::string code(size, '\0');
    nvrtcGetCUBIN(program_, code.data());
    return code;
  }
  std::string symbol(const std::string& kernel) const {
    const char* name = nullptr;
    return nvrtcGetLoweredName(program_, kernel.c_str(), &name) == NVRTC_SUCCESS ? name : "";
  }

 private:
  nvrtcProgram program_ = nullptr;
};

class Nvrtc : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Architectures, Nvrtc, testing::Values("sm_80", "sm_90"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(Nvrtc, CompilesTheDeviceText) {
  const std::vector<std::string> names = kernel_names();
  const std::string architecture = std::string("-arch=") + GetParam();
  Program program(kernels);
  for (const auto& name : names) ASSERT_TRUE(program.instantiate(name)) << name;

  const bool compiled =
      program.compile({architecture.c_str(), "-std=c++20", "-default-device", "-I" COMPOUND_DEVICE_TEXT});

  ASSERT_TRUE(compiled) << program.log();
  EXPECT_EQ(program.log(), "") << "warnings";
  const std::string cubin = program.cubin();
  int missing = 0;
  for (const auto& name : names)
    missing += program.symbol(name).empty() || cubin.find(program.symbol(name)) == std::string::npos;
  EXPECT_EQ(missing, 0) << "kernels of " << names.size() << " in a cubin of " << cubin.size() << " bytes";
}

TEST_P(Nvrtc, ShowsTheLogOfAProgramThatDoesNotCompile) {
  const std::string architecture = std::string("-arch=") + GetParam();
  Program program("__global__ void broken() { no_such_name; }");

  const bool compiled = program.compile({architecture.c_str(), "-std=c++20"});

  EXPECT_FALSE(compiled);
  EXPECT_NE(program.log().find("no_such_name"), std::string::npos) << program.log();
}

}  // namespace
}  // namespace compound::test

#endif
