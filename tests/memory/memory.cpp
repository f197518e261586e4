// No memory, at each allocation in turn:
//
//     memory -dll_append libpetsccompound.so -memory_sites 12             # of each scenario
//     mpirun -n 3 memory -dll_append libpetsccompound.so                  # on one process of three
//
// -memory_sites 0: all sites; -memory_seconds 60: for one of them; -memory_scenario NAME and -memory_site N: one of
// them; -memory_list names them; -memory_record FILE writes numbers as JSON; -memory_mistakes runs scenarios with a
// mistake each, which are faults. -memory_device runs those whose products may run on a device there: with a plugin
// that has one whose memory comes from here (pretended_device.cpp). -memory_ends, on several processes (ends.py):
// PETSc's own allocations fail, too, and the first error ends the program, as it ends an application; -memory_from N
// goes on there.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>

#include "failing.hpp"
#include "scenario.hpp"

namespace {

using failing::Mode;

PetscInt seconds_at_most = 60;
bool ends = false;  ///< -memory_ends
constexpr long most_sites = 200000;
constexpr long few = 2000;  ///< that are all tried; of more one for each path of calls

/// What a process tells the one that waits for it.
struct Outcome {
  bool ended, hit, of_ours, went_on;
  long sites, leaks;
  char fault[6000];
};

struct Shared {
  Outcome outcome;
  failing::Paths paths[most_sites];
};
Shared* shared;

int processes() {
  int size;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

int process() {
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

struct Try {
  long site = 0;
  Mode mode = Mode::none;
  bool stacks = false;
};

std::string text_of(const Try& t) {
  return "site " + std::to_string(t.site) + (t.mode == Mode::from_then_on ? " and all after it" : "");
}

PetscErrorCode run(const Scenario& scenario, Run* r) {
  PetscFunctionBeginUser;
  const PetscErrorCode code = scenario.run(*r);
  if (code) r->fault("with memory back the scenario ended with error " + std::to_string(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void tell(Outcome* outcome, const std::string& fault) {
  if (!outcome->fault[0]) std::snprintf(outcome->fault, sizeof(outcome->fault), "%s", fault.c_str());
}

/// Memory is whole here: nothing fails but where a scenario acts.
void crashed(int signal) {
  (void)failing::stop();
  tell(&shared->outcome,
       std::string(strsignal(signal)) + ", after " + failing::failure().where + " failed, at" + failing::calls_here());
  _exit(3);
}

/// In a process of its own, whatever becomes of it.
Outcome apart(const std::function<void(Outcome*)>& body) {
  shared->outcome = {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(static_cast<unsigned>(seconds_at_most));
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, crashed);
    body(&shared->outcome);
    shared->outcome.ended = true;
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome = shared->outcome;
  if (!outcome.ended && !outcome.fault[0])
    std::snprintf(outcome.fault, sizeof(outcome.fault), "%s",
                  WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it hung"
                  : WIFSIGNALED(status) ? ("it crashed: " + std::string(strsignal(WTERMSIG(status)))).c_str()
                                        : "it ended the program");
  return outcome;
}

Outcome attempt(const Scenario& scenario, const Try& t) {
  return apart([&](Outcome* outcome) {
    Run r(t.site, static_cast<int>(t.mode), true);
    failing::watch(t.stacks);
    (void)run(scenario, &r);
    std::string report;
    outcome->leaks = failing::leaks(&report);
    outcome->sites = r.sites;
    outcome->hit = failing::failure().hit;
    outcome->of_ours = failing::failure().of_ours;
    outcome->went_on = r.went_on;
    if (!r.faults.empty())
      tell(outcome, r.faults + ", " + failing::failure().where + (t.stacks ? failing::calls_of_failure() : ""));
    if (outcome->leaks) tell(outcome, std::to_string(outcome->leaks) + " blocks are lost, first " + report);
  });
}

struct Numbers {
  const char* name;
  long sites = 0, tried = 0, clean = 0, went_on = 0, of_petsc = 0;
};

/// Sites to try: one of each path of calls, then the rest evenly; at most `most`.
std::vector<long> choose(long sites, long most) {
  std::vector<long> chosen;
  if (sites <= most || (most == 0 && sites <= few)) {
    for (long k = 1; k <= sites; ++k) chosen.push_back(k);
    return chosen;
  }
  std::vector<long> firsts;
  std::set<failing::Paths> seen;
  for (long k = 1; k <= std::min(sites, most_sites); ++k)
    if (seen.insert(shared->paths[k - 1]).second) firsts.push_back(k);
  const auto count = static_cast<long>(firsts.size());
  if (most == 0) return firsts;
  for (long k = 0; k < std::min(most, count); ++k) chosen.push_back(firsts[k * count / std::min(most, count)]);
  return chosen;
}

PetscErrorCode on_one_process(const Scenario& scenario, long most, long only, Numbers* n, long* faults) {
  PetscFunctionBeginUser;
  // What is made once and kept must not look like a leak.
  Run warm(0, 0, true);
  PetscCall(scenario.run(warm));
  const Outcome counted = apart([&](Outcome* outcome) {
    Run r(0, 0, true);
    failing::watch(false);
    failing::note_paths(shared->paths, most_sites);
    if (const PetscErrorCode code = scenario.run(r))
      tell(outcome, "without any failure: error " + std::to_string(code));
    if (!r.faults.empty()) tell(outcome, "without any failure: " + r.faults);
    outcome->sites = r.sites;
    std::string report;
    if (failing::leaks(&report)) tell(outcome, "without any failure: lost " + report);
  });
  n->sites = counted.sites;
  if (counted.fault[0]) {
    ++*faults;
    std::printf("  %s: %s\n", scenario.name, counted.fault);
  }
  if (counted.sites == 0) {
    ++*faults;
    std::printf("  %s: it allocates nothing\n", scenario.name);
  }
  std::vector<long> chosen = choose(counted.sites, most);
  if (only) chosen = {only};
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    std::vector<Mode> modes = {Mode::once, Mode::from_then_on};
    if (most && !only) modes = {k % 3 == 2 ? Mode::from_then_on : Mode::once};
    for (const Mode mode : modes) {
      Try t{chosen[k], mode, only != 0};
      Outcome outcome = attempt(scenario, t);
      bool leak_of_petsc = false;
      if (outcome.ended && outcome.leaks && !t.stacks) {
        t.stacks = true;
        outcome = attempt(scenario, t);
        leak_of_petsc = !outcome.leaks;
      }
      if (!outcome.hit && outcome.ended && !outcome.fault[0]) continue;  // times decide what is measured
      ++n->tried;
      n->of_petsc += leak_of_petsc;
      n->went_on += outcome.went_on;
      if (!outcome.fault[0]) {
        ++n->clean;
        continue;
      }
      ++*faults;
      std::printf("  %s, %s: %s\n", scenario.name, text_of(t).c_str(), outcome.fault);
      std::fflush(stdout);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On several processes one of them has no memory: what the plugin asks for fails, where PETSc's own calls end the
// program. Nothing is started anew, and so nothing may hang.

std::string under_way;  ///< for the message of a process that waits for ever

void hung(int) {
  (void)failing::stop();
  const std::string calls = failing::failure().hit ? failing::calls_of_failure() : "";
  std::printf("  %s: it hung on process %d%s\n", under_way.c_str(), process(), calls.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

PetscErrorCode on_several(const Scenario& scenario, long most, long only, long from, Numbers* n, long* faults) {
  PetscFunctionBeginUser;
  std::signal(SIGALRM, hung);
  const int size = processes(), rank = process();
  Run warm(0, 0, false), counted(0, 0, false);
  under_way = scenario.name;
  alarm(static_cast<unsigned>(seconds_at_most));
  PetscCall(scenario.run(warm));
  PetscCall(scenario.run(counted));
  std::vector<long> sites(static_cast<std::size_t>(size));
  MPI_Allgather(&counted.sites, 1, MPI_LONG, sites.data(), 1, MPI_LONG, PETSC_COMM_WORLD);
  for (const long of_process : sites) n->sites += of_process;
  long number = 0;
  for (int fails = 0; fails < size; ++fails) {
    const long all = sites[static_cast<std::size_t>(fails)], here = most ? std::min(all, (most + fails) / size) : all;
    for (long k = 0; k < here; ++k) {
      const long site = only ? only : 1 + (2 * k + 1) * all / (2 * here);
      if (number++ < from) continue;
      Run r(site, static_cast<int>(Mode::once), rank == fails);
      under_way = std::string(scenario.name) + ", process " + std::to_string(fails) + ", site " + std::to_string(site);
      if (ends && rank == 0) std::printf("try %ld: %s\n", number, under_way.c_str());
      std::fflush(stdout);
      alarm(static_cast<unsigned>(seconds_at_most));
      const PetscErrorCode code = scenario.run(r);
      if (code) r.fault("with memory back error " + std::to_string(code));
      int has_fault = !r.faults.empty(), anywhere;
      MPI_Allreduce(&has_fault, &anywhere, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
      ++n->tried;
      n->clean += !anywhere;
      *faults += anywhere;
      if (rank == fails && anywhere)
        std::printf("  %s: %s%s\n", under_way.c_str(), has_fault ? r.faults.c_str() : "a fault on another process",
                    only ? failing::calls_of_failure().c_str() : "");
      std::fflush(stdout);
      if (only) break;
    }
  }
  alarm(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first line that a command prints.
std::string line_of(const char* command) {
  char line[200] = "";
  if (FILE* const out = popen(command, "r")) {
    if (!std::fgets(line, sizeof(line), out)) line[0] = '\0';
    pclose(out);
  }
  return {line, std::strcspn(line, "\n")};
}

/// `most`: -memory_sites.
void record(const char* file, const std::vector<Numbers>& all, PetscInt most) {
  std::ofstream out(file);
  out << "{\n  \"date\": \"" << line_of("date -u +%F") << "\",\n  \"commit\": \""
      << line_of("git -C '" COMPOUND_SOURCE_DIR "' rev-parse --short=8 HEAD") << "\",\n  \"machine\": \""
      << line_of("sed -n 's/^model name.*: //p' /proc/cpuinfo") << "\",\n  \"petsc\": \"" << PETSC_VERSION_MAJOR << '.'
      << PETSC_VERSION_MINOR << '.' << PETSC_VERSION_SUBMINOR << "\",\n  \"processes\": " << processes()
      << ",\n  \"sites\": " << most << ",\n  \"scenarios\": [\n";
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Numbers& n = all[k];
    out << "    {\"name\": \"" << n.name << "\", \"sites\": " << n.sites << ", \"tried\": " << n.tried
        << ", \"clean\": " << n.clean << ", \"went_on\": " << n.went_on << ", \"petsc_keeps\": " << n.of_petsc << "}"
        << (k + 1 < all.size() ? ",\n" : "\n");
  }
  out << "  ]\n}\n";
}

void print(const Numbers& n) {
  std::printf("%-28s %7ld %6ld %6ld %8ld %11ld\n", n.name, n.sites, n.tried, n.clean, n.went_on, n.of_petsc);
  std::fflush(stdout);
}

PetscErrorCode test(long* faults) {
  char name[100] = "", file[4000] = "";
  PetscInt most = 12, only = 0, from = 0;
  PetscBool list = PETSC_FALSE, breaks = PETSC_FALSE, has_ends = PETSC_FALSE, on_device = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-memory_scenario", name, sizeof(name), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-memory_record", file, sizeof(file), nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-memory_sites", &most, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-memory_site", &only, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-memory_seconds", &seconds_at_most, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-memory_from", &from, nullptr));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-memory_ends", &has_ends));
  ends = has_ends;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-memory_list", &list));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-memory_mistakes", &breaks));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-memory_device", &on_device));
  if (on_device) {
    PetscCall(PetscOptionsSetValue(nullptr, "-memory_mat_compound_backend", "cuda"));
    PetscCall(PetscOptionsSetValue(nullptr, "-mat_compound_warn", "false"));  // one line a try
  }
  std::vector<Numbers> all;
  // PETSc frees what it keeps of a communicator with the last object on it: one that is left alone would look like a
  // leak of the communicator.
  MPI_Comm kept[2];
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, &kept[0], nullptr));
  PetscCall(PetscCommDuplicate(PETSC_COMM_SELF, &kept[1], nullptr));
  if (process() == 0 && !list)
    std::printf("%-28s %7s %6s %6s %8s %11s\n", "scenario", "sites", "tried", "clean", "went on", "PETSc keeps");
  for (const Scenario& scenario : breaks ? mistakes() : scenarios()) {
    if ((processes() > 1 && scenario.is_timed) || (on_device && !scenario.on_device)) continue;
    if (list) std::printf("%s\n", scenario.name);
    if (list || (name[0] && std::strcmp(name, scenario.name) != 0)) continue;
    Numbers n{scenario.name};
    if (processes() > 1 && !scenario.is_shared && !name[0]) continue;
    if (processes() > 1) {
      PetscCall(on_several(scenario, most, only, from, &n, faults));
      if (process() == 0) print(n);
      all.push_back(n);
      continue;
    }
    // Each scenario begins in the same state.
    static long* of_child =
        static_cast<long*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    auto* numbers = reinterpret_cast<Numbers*>(of_child + 1);
    *of_child = 0;
    *numbers = n;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const PetscErrorCode code = on_one_process(scenario, most, only, numbers, of_child);
      if (code) {
        ++*of_child;
        std::printf("  %s: without any failure: error %d\n", scenario.name, static_cast<int>(code));
      }
      std::fflush(nullptr);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    n = *numbers;
    *faults += *of_child;
    if (!WIFEXITED(status)) {
      ++*faults;
      std::printf("  %s: without any failure it crashed\n", scenario.name);
    }
    print(n);
    all.push_back(n);
  }
  for (MPI_Comm& comm : kept) PetscCall(PetscCommDestroy(&comm));
  if (file[0] && process() == 0) record(file, all, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode Run::act(const std::function<PetscErrorCode()>& body, const std::function<bool()>& says_so) {
  PetscErrorCode code = PETSC_SUCCESS;
  bool thrown = false;
  PetscFunctionBeginUser;
  const auto mode = fails_here_ ? static_cast<Mode>(mode_) : Mode::none;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  failing::start(site_, mode, processes() == 1 || ends);
  try {
    code = body();
  } catch (...) {
    thrown = true;
  }
  sites = failing::stop();
  PetscCall(PetscPopErrorHandler());
  hit = failing::failure().hit;
  went_on = hit && !code && !thrown;
  if (thrown) fault("an exception came through PETSc");
  // PETSc's macros for headers of objects and what is composed say 1.
  const bool of_header = code == 1 && !failing::failure().of_ours;
  if (ends && site_ && (code == PETSC_ERR_MEM || of_header)) {
    std::printf("ends\n");
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, PETSC_ERR_MEM);
  }
  if (code && code != PETSC_ERR_MEM && !of_header) fault("error " + std::to_string(code) + ", not PETSC_ERR_MEM");
  // quietly() of the plugin: PETSc's error is printed besides the plugin's own.
  const bool is_quiet = failing::failure().where == "PetscPushErrorHandler";
  const int must_say = site_ == 0 || (went_on && !is_quiet);  // at first: what PETSc keeps then is not a leak
  int is_asked;
  PetscCallMPI(MPI_Allreduce(&must_say, &is_asked, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  const bool is_said = is_asked && says_so && says_so();  // a view is of all processes
  if (went_on && !is_quiet && !is_said) fault("no error, and nothing tells of it");
  if (code && !hit && processes() == 1) fault("an error without a failure");
  int both[2] = {code || thrown, -(code || thrown)};  // on several processes, how many of them have an error
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (both[0] != -both[1]) fault(code ? "an error on this process alone" : "no error on this process, but on another");
  left_by_petsc_ = code && !failing::failure().of_ours && processes() == 1;
  is_again_ = both[0];
  if (is_again_) PetscCall(body());
  left_by_petsc_ = is_again_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char** argv) {
  long faults = 0;
  shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (shared == MAP_FAILED) return 2;
  failing::take_petsc_malloc();
  MPI_Init(&argc, &argv);
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(test(&faults));
  const bool is_first = process() == 0;
  PetscCall(PetscFinalize());
  MPI_Finalize();
  if (faults && is_first) std::printf("%ld faults\n", faults);
  return faults ? 1 : 0;
}
