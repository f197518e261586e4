// The text of src/device through NVRTC, without a GPU: what no plan's kernel has (cuda/kernel_source_test.cpp compiles
// those), on an older device too, and without warnings.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "entry/kinds.hpp"
#include "support/nvrtc_program.hpp"

namespace compound::test {
namespace {

const std::string kernels = R"(
#include "entry/entries.hpp"
#include "layout/slices.hpp"
#include "pack_values.hpp"
#include "spmv_rows.hpp"

using namespace compound;
using C = complex_number<double>;
using Cf = complex_number<float>;

template <class Product, Op op, Update update, int lanes>
__global__ void __launch_bounds__(128, 8) multiply(const __grid_constant__ Product p) {
  const int worker = blockIdx.x * blockDim.x + threadIdx.x;
  if (worker / lanes < p.layout.positions) multiply_row<op, update, lanes>(p, worker / lanes, worker % lanes);
}

template <class Packing>
__global__ void __launch_bounds__(128, 8) pack(const __grid_constant__ Packing p, const slot_lists l) {
  pack_slots(p, l);
}

template <class Entry>
__global__ void misfits(const typename Entry::scalar* blocks, int* found, Entry entry) {
  if (!fits(entry, full_block<typename Entry::scalar>{blocks, entry.rows()})) *found = 1;
}
)";

/// Entries, and the scalar their words are stored as: every kind in real and in complex matrices, and more.
std::vector<std::pair<std::string, std::string>> entries() {
  std::vector<std::pair<std::string, std::string>> all = {
      {"dense<double, 4, 4>", "float"}, {"dense<C, 2, 5>", "Cf"},        {"dense<float, dynamic, dynamic>", "float"},
      {"unit_quaternion<Cf>", "float"}, {"scaled_identity<C, 2>", "Cf"}, {"diagonal_entry<C, dynamic>", "C"}};
  for (const EntryKind& kind : entry_kinds())
    for (const Field field : {Field::real, Field::complex}) {
      const EntryShape& shape = field == Field::real ? kind.in_real : kind.in_complex;
      if (kind.sizes == 0 && shape.words == 0) continue;
      const std::string scalar = field == Field::real ? "double" : "C";
      std::string name = std::string(kind.type) + "<" + scalar;
      for (int i = 0; i < kind.sizes; ++i) name += ", 3";
      all.push_back({name + ">", shape.real_words ? "double" : scalar});
    }
  return all;
}

/// Forms that are known when the program runs, and checks of blocks: every entry.
std::vector<std::string> kernel_names() {
  const std::string layout = "slices<dynamic, Occupancy::any, RowOrder::any, columns32<>>",
                    words = "matrix_words<dynamic, WordOrder::any>";
  std::vector<std::string> names;
  for (const auto& [entry, stored] : entries()) {
    const std::string form = entry + ", " + stored + ", ";
    names.push_back("multiply<product<" + form + layout + ", " + words +
                    ", vector_words<dynamic>>, Op::hermitian, Update::add, 8>");
    names.push_back("pack<packing<" + form + words + ">>");
    names.push_back("misfits<" + entry + ">");
  }
  return names;
}

class DeviceTextByNvrtc : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Architectures, DeviceTextByNvrtc, testing::Values("sm_80", "sm_90"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(DeviceTextByNvrtc, Compiles) {
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

}  // namespace
}  // namespace compound::test
