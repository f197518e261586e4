#include "choi.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "failure.hpp"
#include "options.hpp"
#include "planner/device_tables.hpp"
#include "planner/tuner.hpp"

namespace compound::bench::tune {

namespace {

/// The paper takes any number of columns up to 100. Here the largest matrix goes beyond a second cache, and fits a
/// host.
int columns_for(double rows, double block_bytes) {
  constexpr double wanted_bytes = 256e6;
  return static_cast<int>(std::clamp(wanted_bytes / (rows * (block_bytes + sizeof(idx))), 4.0, 32.0));
}

Pattern dense_pattern(idx rows, idx columns) {
  Pattern p{rows, columns, {0}, {}};
  p.column.reserve(std::size_t(rows) * std::size_t(columns));
  for (idx row = 0; row < rows; ++row) {
    for (idx c = 0; c < columns; ++c) p.column.push_back(c);
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

double seconds_of_dense(const Plan& plan, const Problem& problem, Backend& on, idx rows, int columns) {
  const Pattern pattern = dense_pattern(rows, columns);
  const std::vector<std::byte> zeros(pattern.column.size() * bytes_of_block(problem));
  MeasureLimits limits;
  limits.products = std::numeric_limits<double>::infinity();
  limits.samples = 15;
  const Measurement m = measure(pattern.view(), problem, {plan}, on, zeros.data(), limits);
  if (!m.all.front().is_timed()) throw usage_error("-model choi: " + to_string(plan) + ": " + m.all.front().failure);
  return m.all.front().seconds;
}

bool is_of_the_paper(const Plan& plan) {
  return plan.later.empty() && plan.layout.preset == "bellpack" && plan.schedule.traversal == Traversal::rows &&
         plan.schedule.lanes == 1 && plan.schedule.threads == plan.layout.slice &&
         plan.schedule.balance == Balance::grid;
}

constexpr std::pair<const char*, double ChoiKernel::*> numbers[] = {{"first_s", &ChoiKernel::first_s},
                                                                    {"first_block_s", &ChoiKernel::first_block_s},
                                                                    {"next_block_s", &ChoiKernel::next_block_s},
                                                                    {"held_s", &ChoiKernel::held_s}};

ChoiKernel kernel_of(const Record& all, const Record& row) {
  ChoiKernel k{all.at("multiprocessors"), row.at("at_once")};
  for (const auto& [name, member] : numbers) k.*member = row.at(name);
  return k;
}

}  // namespace

double ChoiKernel::seconds(double thread_blocks, double n) const {
  const double wave = double(at_once) * multiprocessors, iterations = std::ceil(thread_blocks / wave);
  const double first = first_s + first_block_s * n;
  if (iterations <= 1) return first + held_s * n * (std::ceil(thread_blocks / multiprocessors) - 1);
  const double held = held_s * n * (at_once - 1), next = next_block_s * n;
  const double rest = std::fmod(thread_blocks, wave) == 0 ? wave : std::fmod(thread_blocks, wave);
  return first + held + (iterations - 2) * (next + held) + next + held_s * n * std::floor((rest - 1) / multiprocessors);
}

ChoiKernel calibrated(int multiprocessors, int at_once, int columns, const std::function<double(int, int)>& phi) {
  ChoiKernel k{multiprocessors, at_once};
  const double one = phi(1, columns), all = phi(at_once, columns);
  k.first_s = phi(1, 1);
  k.first_block_s = (one - k.first_s) / columns;
  k.next_block_s = (phi(at_once + 1, columns) - all) / columns;
  k.held_s = at_once > 1 ? (all - one) / ((at_once - 1) * columns) : 0;
  return k;
}

ChoiModel::ChoiModel(std::string file, Backend& on) : file_(std::move(file)), on_(on) {
  const Machine here = on.machine();
  if (!std::filesystem::exists(file_)) {
    all_ = {{"program", "compound-tune -model choi"},
            {"device", here.device},
            {"multiprocessors", traits_of(on).multiprocessors},
            {"kernels", Record::object()}};
    return;
  }
  std::string found;
  try {
    std::ifstream in(file_);
    all_ = Record::parse(in);
    found = all_.at("device");
    for (const Record& row : all_.at("kernels")) (void)kernel_of(all_, row);
  } catch (const Record::exception& e) {
    throw usage_error("-model: '" + file_ + "' has no parameters of this model: " + e.what() +
                      "; name a file that -model choi:FILE wrote, or a new one");
  }
  if (found != here.device)
    throw usage_error("-model: '" + file_ + "' is of " + found + ", this is " + here.device + "; name another file");
}

std::optional<double> ChoiModel::seconds(const Plan& plan, const PatternView& pattern, const Problem& problem) {
  if (!is_of_the_paper(plan)) return {};
  const std::string key = block_text(problem.block) + " " + to_string(plan);
  Record& kernels = all_.at("kernels");
  const int height = plan.layout.slice, multiprocessors = all_.at("multiprocessors");
  if (!kernels.contains(key)) {
    const int at_once = on_.code_for(plan, problem)->blocks_at_once();
    const double most_rows = double(multiprocessors) * (at_once + 1) * height;
    const int columns = columns_for(most_rows, double(bytes_of_block(problem)));
    const ChoiKernel k = calibrated(multiprocessors, at_once, columns, [&](int blocks, int of_row) {
      return seconds_of_dense(plan, problem, on_, static_cast<idx>(multiprocessors * blocks * height), of_row);
    });
    Record row = {{"at_once", k.at_once}, {"columns", columns}, {"date", date_now()}};
    for (const auto& [name, member] : numbers) row[name] = k.*member;
    kernels[key] = row;
    write_json(file_, all_, "-model");
  }
  const double thread_blocks = std::ceil(double(pattern.rows) / height);
  const Footprint counted = bytes_of(pattern, problem, plan, on_);
  return kernel_of(all_, kernels.at(key)).seconds(thread_blocks, double(counted.slots) / (thread_blocks * height));
}

}  // namespace compound::bench::tune
