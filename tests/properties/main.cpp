// property_runner: random cases of the core and of PETSc's matrices for so many seconds; CONTRIBUTING.md says how to
// use it. One case that fails is shrunk and printed with the command that repeats it, and the program ends with 1.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/error.hpp"
#include "cuda/backend.hpp"
#include "draw.hpp"
#include "petsc_check.hpp"
#include "petsccompound.h"
#include "shrink.hpp"
#include "tally.hpp"

namespace compound::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Options {
  double seconds = 60;
  std::optional<std::uint64_t> seed;
  std::string one;   ///< "core:17" or "petsc:3": that case of the seed alone
  std::string text;  ///< of a case
  std::string backend = "any";
  std::string broken;  ///< "core" or "petsc": products that are wrong on purpose
};

constexpr const char* usage =
    "property_runner [--seconds 60] [--seed S] [--backend host|cuda|any] [--index core:N|petsc:N] [--case TEXT]\n"
    "                [--break core|petsc]; mpiexec -n N for matrices on 1 to N ranks\n";

Options options_of(int count, char** arguments) {
  Options o;
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (i + 1 == count) throw error(ErrorKind::argument, name + " has no value\n" + usage);
    const std::string value = arguments[i + 1];
    if (name == "--seconds")
      o.seconds = std::strtod(value.c_str(), nullptr);
    else if (name == "--seed")
      o.seed = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--index")
      o.one = value;
    else if (name == "--case")
      o.text = value;
    else if (name == "--backend")
      o.backend = value;
    else if (name == "--break")
      o.broken = value;
    else
      throw error(ErrorKind::argument, "unknown option " + name + "\n" + usage);
  }
  return o;
}

/// The environment's COMPOUND_PROPERTY_SEED, else of the commit that is checked out, else 1: other cases each time the
/// code changes.
std::uint64_t usual_seed() {
  const char* given = std::getenv("COMPOUND_PROPERTY_SEED");
  if (given && *given) return std::strtoull(given, nullptr, 0);
  char hash[16] = {};
  if (FILE* git = popen("git -C '" COMPOUND_SOURCE_DIR "' rev-parse --short=8 HEAD 2>/dev/null", "r")) {
    const std::size_t read = fread(hash, 1, 8, git);
    if (pclose(git) == 0 && read == 8) return std::strtoull(hash, nullptr, 16);
  }
  return 1;
}

std::string line_of_case;

/// A rank that waits for ever is a failure, as is one that crashes.
void end_by_signal(int) {
  constexpr std::string_view what = "FAILED: ends, without a crash; the case is ";
  (void)!write(2, what.data(), what.size());
  (void)!write(2, line_of_case.data(), line_of_case.size());
  (void)!write(2, "\n", 1);
  _exit(1);
}

class Runner {
 public:
  Runner(const Options& o, std::vector<std::string> backends) : options_(o), backends_(std::move(backends)) {
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank_);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks_);
    seed_ = o.seed ? *o.seed : rank_ == 0 ? usual_seed() : 0;
    MPI_Bcast(&seed_, 1, MPI_UINT64_T, 0, PETSC_COMM_WORLD);
    for (const int s : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) signal(s, end_by_signal);
  }

  int run() {
    if (rank_ == 0)
      std::cout << "seed " << seed_ << ", " << options_.seconds << " s, " << ranks_ << " rank"
                << (ranks_ > 1 ? "s" : "") << std::endl;
    if (!options_.text.empty()) {
      one(case_of_text(options_.text));
    } else if (!options_.one.empty()) {
      one(numbered(options_.one));
    } else {
      while (!failed_ && go_on(seconds_since(start_) < options_.seconds)) round();
    }
    report();
    return failed_ ? 1 : 0;
  }

 private:
  static constexpr double slice = 0.5;  // seconds, in turn of the core and of PETSc's matrices

  bool go_on(bool mine) const {
    int on = mine;
    MPI_Bcast(&on, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    return on;
  }
  const std::string& backend_of_round(std::uint64_t n) const { return backends_[n % backends_.size()]; }
  static ScalarType petsc_scalar() { return scalar_type_of<PetscCore>(); }

  /// "cuda:core:17".
  Case numbered(const std::string& index) const {
    const auto colon = index.rfind(':');
    const std::string what = index.substr(0, colon);
    if (colon == std::string::npos) throw error(ErrorKind::argument, "--index " + index + "\n" + usage);
    const std::uint64_t n = std::strtoull(index.c_str() + colon + 1, nullptr, 10);
    const std::string on = what.starts_with("cuda") ? "cuda" : "host";
    if (what.ends_with("petsc")) return draw_petsc_case(seed_, n, ranks_, petsc_scalar(), on);
    return draw_core_case(seed_, n, on);
  }
  static std::string index_text(const Case& c, std::uint64_t n) {
    return (c.backend == "host" ? "" : c.backend + ":") + (c.of_petsc() ? "petsc:" : "core:") + std::to_string(n);
  }

  void round() {
    const std::string& on = backend_of_round(rounds_++);
    const auto core = Clock::now();
    std::uint64_t& next = next_core_[on];
    while (!failed_ && seconds_since(core) < slice) {
      const std::uint64_t n = next++ * ranks_ + rank_;
      meet(draw_core_case(seed_, n, on), n);
    }
    int any = failed_;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, PETSC_COMM_WORLD);
    failed_ = any;
    const auto petsc = Clock::now();
    while (!failed_ && go_on(seconds_since(petsc) < slice)) {
      const std::uint64_t n = next_petsc_++;
      meet(draw_petsc_case(seed_, n, ranks_, petsc_scalar(), on), n);
    }
  }

  void one(const Case& c) {
    if (const auto why = why_not(c)) throw error(ErrorKind::argument, "this case cannot be: " + *why);
    if (c.ranks() > ranks_)
      throw error(ErrorKind::argument, "this case is for mpiexec -n " + std::to_string(c.ranks()));
    if (c.of_petsc() || rank_ == 0) meet(c, {});
    int any = failed_;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, PETSC_COMM_WORLD);
    failed_ = any;
  }

  Verdict verdict_of(const Case& c) {
    line_of_case = text_of(c);
    alarm(60);
    const bool broken = options_.broken == (c.of_petsc() ? "petsc" : "core");
    const Verdict v = c.of_petsc() ? check_petsc(c, broken) : check_core(c, broken);
    alarm(0);
    return v;
  }

  /// Of PETSc's matrices on all ranks at once.
  void meet(const Case& c, std::optional<std::uint64_t> number) {
    const Verdict v = verdict_of(c);
    if (!c.of_petsc() || rank_ == 0) {
      ++cases_;
      properties_ += v.checked;
      tally_.add(c);
    }
    if (v.failures.empty()) return;
    failed_ = true;
    const bool prints = !c.of_petsc() || rank_ == 0;
    if (prints) {
      for (const Failure& f : v.failures) std::cout << "FAILED: " << f.property << ": " << f.message << "\n";
      std::cout << "  case: " << text_of(c) << "\n";
      if (number)
        std::cout << "  repeat: " << command() << " --seed " << seed_ << " --index " << index_text(c, *number)
                  << broken_option() << std::endl;
    }
    const auto from = Clock::now();
    const std::string property = v.failures.front().property;
    Failure last = v.failures.front();
    const Shrunk s = shrunk(c, [&](const Case& smaller) {
      const bool time_left = seconds_since(from) < 30;
      if (!(c.of_petsc() ? go_on(time_left) : time_left)) return false;
      const Verdict of_smaller = verdict_of(smaller);
      const Failure* same = of_smaller.of(property);
      if (same) last = *same;
      return same != nullptr;
    });
    if (!prints) return;
    std::cout << "  shrunk in " << s.steps << " steps of " << s.tried << " that were tried: " << last.message << "\n"
              << picture(s.smallest.pattern) << "  repeat: " << command(s.smallest) << " --case '"
              << text_of(s.smallest) << "'" << broken_option() << std::endl;
  }

  std::string command() const {
    return ranks_ > 1 ? "mpiexec -n " + std::to_string(ranks_) + " property_runner" : "property_runner";
  }
  static std::string command(const Case& c) {
    return c.ranks() > 1 ? "mpiexec -n " + std::to_string(c.ranks()) + " property_runner" : "property_runner";
  }
  std::string broken_option() const { return options_.broken.empty() ? "" : " --break " + options_.broken; }

  static std::string picture(const Pattern& p) {
    std::string text = "  " + std::to_string(p.rows) + " block rows, " + std::to_string(p.cols) + " block columns, " +
                       std::to_string(p.column.size()) + " entries\n";
    for (idx row = 0; row < std::min(p.rows, 12); ++row) {
      text += "    row " + std::to_string(row) + ":";
      for (count32 e = p.start[row]; e < std::min(p.start[row + 1], p.start[row] + 20); ++e)
        text += " " + std::to_string(p.column[e]);
      text += "\n";
    }
    return text;
  }

  /// Of all ranks, on the first.
  void report() {
    long numbers[] = {cases_, properties_};
    MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_LONG, MPI_SUM, PETSC_COMM_WORLD);
    std::string mine = tally_.packed();
    for (int r = 1; r < ranks_; ++r) {
      int size = static_cast<int>(mine.size());
      if (rank_ == r) {
        MPI_Send(&size, 1, MPI_INT, 0, 0, PETSC_COMM_WORLD);
        MPI_Send(mine.data(), size, MPI_CHAR, 0, 0, PETSC_COMM_WORLD);
      } else if (rank_ == 0) {
        MPI_Recv(&size, 1, MPI_INT, r, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
        std::string other(static_cast<std::size_t>(size), ' ');
        MPI_Recv(other.data(), size, MPI_CHAR, r, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
        tally_.add(other);
      }
    }
    if (rank_ != 0) return;
    std::printf("%s%s: %ld cases, %ld properties, %.0f s, seed %llu\n", tally_.text().c_str(),
                failed_ ? "FAILED" : "all hold", numbers[0], numbers[1], seconds_since(start_),
                static_cast<unsigned long long>(seed_));
    std::fflush(stdout);
  }

  const Options& options_;
  std::vector<std::string> backends_;
  int rank_ = 0, ranks_ = 1;
  std::uint64_t seed_ = 1, rounds_ = 0, next_petsc_ = 0;
  std::map<std::string, std::uint64_t> next_core_;
  Clock::time_point start_ = Clock::now();
  Tally tally_;
  long cases_ = 0, properties_ = 0;
  bool failed_ = false;
};

/// Those that are here; empty, with the reason printed, where what was asked for is not.
std::vector<std::string> backends_of(const Options& o) {
  if (o.backend == "host") return {"host"};
  const std::string why = why_no_cuda();
  if (o.backend == "any")
    return why.empty() ? std::vector<std::string>{"host", "host", "host", "cuda"} : std::vector<std::string>{"host"};
  if (o.backend != "cuda") throw error(ErrorKind::argument, "unknown --backend " + o.backend + "\n" + usage);
  if (why.empty()) return {"cuda"};
  if (std::getenv("COMPOUND_DEVICE_REQUIRED")) throw error(ErrorKind::device, why);
  std::cout << "skipped: " << why << std::endl;
  return {};
}

int run(int count, char** arguments) try {
  const Options o = options_of(count, arguments);
  const auto backends = backends_of(o);
  if (backends.empty()) return 0;
  begin_petsc_checks();
  const int status = Runner(o, backends).run();
  end_petsc_checks();
  return status;
} catch (const std::exception& e) {
  std::cerr << "property_runner: " << e.what() << std::endl;
  MPI_Abort(PETSC_COMM_WORLD, 2);  // the others may wait
  return 2;
}

}  // namespace
}  // namespace compound::test

int main(int count, char** arguments) {
  int of_gtest = 1;
  testing::InitGoogleTest(&of_gtest, arguments);
  int none = 1;
  char** program = arguments;
  if (PetscInitialize(&none, &program, nullptr, nullptr) || PetscCompoundInitialize()) return 2;
  const int status = compound::test::run(count, arguments);
  if (PetscFinalize()) return 2;
  return status;
}
