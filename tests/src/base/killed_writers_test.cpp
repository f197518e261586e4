// 32 processes write wisdom, tables of devices and compiled kernels while one of them is killed every 20 ms, on an
// ordinary disk and on one that is full every now and then. What was said to be kept is there, and nothing else is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/files.hpp"
#include "base/lock.hpp"
#include "planner/device_tables.hpp"
#include "planner/wisdom_file.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/temporary.hpp"
#include "support/tier.hpp"
#include "support/wisdom_entries.hpp"
#ifdef COMPOUND_HAVE_CUDA
#include "cuda/cubin_cache.hpp"
#include "no_nvrtc.hpp"
#endif

namespace compound::test {
namespace {

namespace files = std::filesystem;

constexpr int writers = 32;
constexpr int most_entries = 1 << 14;  ///< of a writer

/// The entries of a writer, in the order in which it writes them.
struct Entry {
  int writer, number;
};

/// A kind of file. An entry takes the place of the writer's entry whose number is less by a multiple of `places`.
struct Store {
  const char* name;
  std::function<bool(const files::path& folder, Entry)> write;        ///< whether it says that the entry is kept
  std::function<std::vector<Entry>(const files::path& folder)> read;  ///< throws where anything is half
  int places = 8;                                                     ///< most_entries: none takes another's
  bool gives_up = true;                                               ///< where others write for too long
  int place_of(Entry e) const { return e.writer * places + e.number % places; }
};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// Wisdom: the number of an entry is its seconds.

constexpr int wisdom_places = 8;

WisdomEntry wisdom_of(Entry e) {
  WisdomEntry entry = wisdom_entry(e.writer * wisdom_places + e.number % wisdom_places);
  entry.seconds = 1 + e.number;
  return entry;
}

std::vector<Entry> entries_of(const Wisdom& wisdom) {
  std::vector<Entry> all;
  for (const WisdomEntry& found : wisdom.entries()) {
    const int place = static_cast<int>(found.key.pattern - wisdom_entry(0).key.pattern);
    all.push_back({place / wisdom_places, static_cast<int>(found.seconds) - 1});
    require(found == wisdom_of(all.back()), "an entry that nobody wrote: " + found.plan);
  }
  return all;
}

std::vector<Entry> read_whole_wisdom(const files::path& file) {
  const WisdomFile read = read_wisdom(file);
  require(read.problem.empty(), read.problem);
  require(read.wisdom.lines() == content_of(file), "a damaged line");
  return entries_of(read.wisdom);
}

Store wisdom() {
  return {"wisdom",
          [](const auto& folder, Entry e) { return add_to_wisdom(folder / "wisdom", {wisdom_of(e)}).empty(); },
          [](const auto& folder) { return read_whole_wisdom(folder / "wisdom"); }, wisdom_places};
}

// Tables of devices: the number of an entry is its multiprocessors.

DeviceTable table_of(Entry e, int places) {
  static const DeviceTable like = device_tables().all.front();
  DeviceTable table = like;
  table.name = std::to_string(e.writer) + " " + std::to_string(e.number % places);
  table.multiprocessors = 1 + e.number;
  return table;
}

Store tables() {
  constexpr int places = 8;
  const auto write = [](const files::path& folder, Entry e) {
    try {
      add_device_table(folder / "devices", table_of(e, places));
    } catch (const error&) {
      return false;
    }
    return true;
  };
  const auto read = [](const files::path& folder) {
    std::vector<Entry> all;
    for (const DeviceTable& found : parse_device_tables(content_of(folder / "devices"), "the file")) {
      all.push_back({std::stoi(found.name), static_cast<int>(found.multiprocessors) - 1});
      require(found == table_of(all.back(), places), "a table that nobody wrote: " + to_string(found));
    }
    return all;
  };
  return {"tables of devices", write, read, places};
}

#ifdef COMPOUND_HAVE_CUDA
// Kernels, of several sizes: the cache keeps the first one of a source.

std::string source_of(Entry e) { return std::to_string(e.writer) + " " + std::to_string(e.number); }
std::string code_of(const std::string& source) {
  return "\x7f"
         "ELF" +
         source + std::string(std::stoul(source.substr(source.find(' '))) % 3 * 5000, '.');
}

bool is_kept(Entry e) {
  const auto compiled = cuda::compile_count();
  return cuda::cubin_of(source_of(e), 90) == code_of(source_of(e)) && cuda::compile_count() == compiled;
}

Store kernels() {
  const auto write = [](const files::path& folder, Entry e) {
    setenv("COMPOUND_CUDA_CACHE", (folder / "cubins").c_str(), 1);
    fuzz::compiler() = {.version = "13.0", .compile = code_of};
    cuda::cubin_of(source_of(e), 90);
    return is_kept(e);
  };
  const auto read = [](const files::path& folder) {
    setenv("COMPOUND_CUDA_CACHE", (folder / "cubins").c_str(), 1);
    fuzz::compiler() = {.version = "13.0", .compile = [](const std::string&) -> std::string {
                          throw error(ErrorKind::unsupported, "it is not kept");
                        }};
    std::vector<Entry> all;
    for (int writer = 0; writer <= writers; ++writer)
      for (int number = 0, missing = 0; number < most_entries && missing < 100; ++number) try {
          require(is_kept({writer, number}), "a kernel is another one");
          all.push_back({writer, number});
          missing = 0;
        } catch (const error&) {
          ++missing;  // its writer was killed
        }
    std::size_t there = 0;
    for (const auto& file : files::directory_iterator(folder / "cubins")) there += file.path().extension() == ".cubin";
    require(there == all.size(), std::to_string(there - all.size()) + " kernels are damaged");
    return all;
  };
  return {"kernels", write, read, most_entries, false};
}
#endif

std::vector<Store> stores() {
  return {wisdom(), tables(),
#ifdef COMPOUND_HAVE_CUDA
          kernels()
#endif
  };
}

/// What writers say, in memory that outlives them.
struct Said {
  struct OfWriter {
    std::atomic<int> begun, refused;
    std::array<std::atomic<bool>, most_entries> kept;
  };
  std::array<OfWriter, writers> of;
};

class SharedSaid {
 public:
  SharedSaid() : at_(mmap(nullptr, sizeof(Said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    require(at_ != MAP_FAILED, "no memory to share");
  }
  ~SharedSaid() { munmap(at_, sizeof(Said)); }
  SharedSaid(const SharedSaid&) = delete;
  SharedSaid& operator=(const SharedSaid&) = delete;
  Said* operator->() const { return static_cast<Said*>(at_); }

 private:
  void* at_;
};

/// Full for a while, and free for a while.
class Disk {
 public:
  enum Kind { ordinary, full };
  explicit Disk(Kind kind) {
    char name[] = "/tmp/compound_writers_XXXXXX";
    require(mkdtemp(name) != nullptr, "no folder can be made");
    folder_ = name;
    if (kind == ordinary) return;
    // For this process alone, with whose end it goes.
    is_mounted_ = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                  mount("tmpfs", name, "tmpfs", 0, "size=64m,mode=0700") == 0;
    limit_ = is_mounted_ ? 0 : 8000;
  }
  ~Disk() {
    if (is_mounted_) umount2(folder_.c_str(), MNT_DETACH);
    files::remove_all(folder_);
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  const files::path& folder() const { return folder_; }
  const char* how() const { return is_mounted_ ? "a tmpfs of 64 MB" : limit_ ? "RLIMIT_FSIZE of 8 kB" : "/tmp"; }

  /// For a writer's process.
  void limit_files() const {
    const rlimit limit{limit_, limit_};
    std::signal(SIGXFSZ, SIG_IGN);
    if (limit_) require(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit of files can be set");
  }

  /// All but some kB: files are cut off anywhere.
  void fill(int kilobytes) const {
    struct statvfs status;
    if (!is_mounted_ || statvfs(folder_.c_str(), &status) != 0) return;
    const off_t left = static_cast<off_t>(status.f_bavail * status.f_frsize) - kilobytes * 1024;
    const FileHandle file(open(filler().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (left > 0) (void)!posix_fallocate(file.get(), 0, left);
  }
  void free() const { files::remove(filler()); }
  /// For what comes last: entries of a minute may fill the disk by themselves.
  void grow() const {
    if (is_mounted_)
      require(mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT, "size=256m") == 0, "the disk cannot grow");
  }

 private:
  files::path filler() const { return folder_ / "filler"; }

  files::path folder_;
  bool is_mounted_ = false;
  rlim_t limit_ = 0;
};

/// What is wrong after some seconds of writers being killed; empty if nothing is.
class KilledWriters {
 public:
  KilledWriters(const Disk& disk, std::vector<Store> of) : disk_(disk), stores_(std::move(of)), said_(stores_.size()) {}
  /// Where one ended by itself, the others still write.
  ~KilledWriters() {
    for (const pid_t child : children_)
      if (child > 0 && kill(child, SIGKILL) == 0) (void)status_of(child);
  }
  KilledWriters(const KilledWriters&) = delete;
  KilledWriters& operator=(const KilledWriters&) = delete;

  std::vector<std::string> run(double seconds) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    for (int writer = 0; writer < writers; ++writer) start_writer(writer);
    for (kills_ = 0; clock::now() < end || kills_ < 25; ++kills_) {
      usleep(20000);
      const int writer = victim();
      end_writer(writer);
      start_writer(writer);
      if (kills_ % 10 == 4) disk_.fill(random_.below(100));
      if (kills_ % 10 == 9) disk_.free();
    }
    for (int writer = 0; writer < writers; ++writer) end_writer(writer);
    disk_.free();
    disk_.grow();
    for (std::size_t s = 0; s < stores_.size(); ++s) check(stores_[s], said_[s]);
    check_files();
    return wrong_;
  }

  struct Counts {
    int kept = 0, refused = 0;
  };
  Counts counts(std::size_t store) const {
    Counts all;
    for (const Said::OfWriter& w : said_[store]->of) {
      all.refused += w.refused;
      for (int n = 0; n < w.begun; ++n) all.kept += w.kept[n];
    }
    return all;
  }
  int kills() const { return kills_; }

 private:
  void start_writer(int writer) {
    children_[writer] = start([&] {
      disk_.limit_files();
      for (;;)
        for (std::size_t s = 0; s < stores_.size(); ++s) {
          Said::OfWriter& said = said_[s]->of[writer];
          if (said.begun == most_entries) continue;
          const Entry e{writer, said.begun++};
          if (stores_[s].write(disk_.folder(), e))
            said.kept[e.number] = true;
          else
            ++said.refused;
        }
      return 0;
    });
  }

  /// Any one and one that has a lock, by turns: most of them wait.
  int victim() {
    std::ifstream locks("/proc/locks");  // "1: FLOCK  ADVISORY  WRITE <process> ..."
    std::string number, kind, advisory, access, rest;
    for (pid_t holder; kills_ % 2 && locks >> number >> kind >> advisory >> access >> holder; std::getline(locks, rest))
      if (const auto at = std::ranges::find(children_, holder); at != children_.end())
        return static_cast<int>(at - children_.begin());
    return random_.below(writers);
  }

  void end_writer(int writer) {
    const pid_t child = std::exchange(children_[writer], 0);
    kill(child, SIGKILL);
    if (const int status = status_of(child); status != -1)
      throw std::runtime_error("a writer ended by itself with status " + std::to_string(status));
  }

  void complain(const Store& store, const std::string& what) {
    wrong_.push_back(std::string(store.name) + ": " + what);
  }

  /// An entry of one more writer must be taken, too: nothing that was left keeps it out.
  void check(const Store& store, const SharedSaid& said) try {
    if (!store.write(disk_.folder(), {writers, 0})) complain(store, "the next write is refused");
    std::map<int, int> at;  // the number, by the place
    for (const Entry e : store.read(disk_.folder())) {
      at[store.place_of(e)] = e.number;
      if (e.writer < writers && e.number >= said->of[e.writer].begun) complain(store, "an entry that nobody wrote");
    }
    int lost = 0;
    for (int writer = 0; writer < writers; ++writer)
      for (int n = 0; n < said->of[writer].begun; ++n) {
        const auto found = at.find(store.place_of({writer, n}));
        lost += said->of[writer].kept[n] && (found == at.end() || found->second < n);
      }
    if (lost) complain(store, std::to_string(lost) + " entries whose write returned are not there");
  } catch (const std::exception& e) {
    complain(store, std::string("half an entry: ") + e.what());
  }

  void check_files() {
    for (const auto& entry : files::recursive_directory_iterator(disk_.folder())) {
      const files::path& file = entry.path();
      const bool known = entry.is_directory() || file.extension() == ".cubin" || file.extension() == ".lock" ||
                         file.filename() == "wisdom" || file.filename() == "devices";
      if (!known) wrong_.push_back("a temporary file remains: " + file.filename().string());
      if (file.extension() == ".lock" && !FileLock(file, std::chrono::milliseconds(0)).problem().empty())
        wrong_.push_back("a lock stays: " + file.filename().string());
    }
  }

  const Disk& disk_;
  std::vector<Store> stores_;
  std::vector<SharedSaid> said_;
  std::vector<std::string> wrong_;
  std::array<pid_t, writers> children_ = {};
  Random random_;
  int kills_ = 0;
};

class WritersOnADisk : public testing::TestWithParam<Disk::Kind> {};

TEST_P(WritersOnADisk, MayBeKilled) {
  const Disk disk(GetParam());
  KilledWriters crowd(disk, stores());

  EXPECT_EQ(crowd.run(tier_is_all() ? 60 : 2.5), std::vector<std::string>{}) << seed_text();

  std::printf("%d writers killed, on %s\n", crowd.kills(), disk.how());
  int refused_by_all = 0;
  for (std::size_t s = 0; s < stores().size(); ++s) {
    const auto [kept, refused] = crowd.counts(s);
    std::printf("%s: %d kept, %d refused\n", stores()[s].name, kept, refused);
    EXPECT_GE(kept, 10) << stores()[s].name;
    EXPECT_TRUE(refused == 0 || GetParam() == Disk::full || stores()[s].gives_up) << stores()[s].name;
    refused_by_all += refused;
  }
  EXPECT_TRUE(refused_by_all > 0 || GetParam() == Disk::ordinary) << "the disk was never full";
}

INSTANTIATE_TEST_SUITE_P(Both, WritersOnADisk, testing::Values(Disk::ordinary, Disk::full),
                         [](const auto& kind) { return kind.param == Disk::full ? "Full" : "Ordinary"; });

// That each mistake of a writer is found: of wisdom as it must not be written.

enum class Mistake { in_place, said_too_soon, temporary_of_its_own, lock_that_stays, no_lock };
struct Found {
  Mistake mistake;
  const char *name, *as;
};
void PrintTo(const Found& f, std::ostream* out) { *out << f.name; }

bool write_badly(const files::path& folder, Entry e, Mistake mistake) {
  const files::path file = folder / "wisdom", made_as_lock = folder / "made.lock";
  const std::string pid = std::to_string(getpid());
  if (mistake == Mistake::lock_that_stays &&  // a file that is there, which the system does not free
      !FileHandle(open(made_as_lock.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600))) {
    usleep(1000);
    return false;
  }
  const FileLock lock(folder / ((mistake == Mistake::no_lock ? pid : "wisdom") + ".lock"), std::chrono::seconds(2));
  if (!lock.problem().empty()) return false;
  static Wisdom waiting;  // in the process's memory
  waiting.add(wisdom_of(e));
  if (mistake == Mistake::said_too_soon && e.number % 4 != 3) return true;
  Wisdom all = read_wisdom(file).wisdom;
  all.merge(waiting);
  waiting = {};
  const bool has_own = mistake == Mistake::temporary_of_its_own || mistake == Mistake::no_lock;
  const files::path made = mistake == Mistake::in_place ? file : folder / (has_own ? pid + ".made" : "wisdom.made");
  const std::string text = all.lines();
  {
    const FileHandle to(open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    write_all(to, std::string_view(text).substr(0, text.size() / 2));
    usleep(1000);
    write_all(to, std::string_view(text).substr(text.size() / 2));
  }
  files::rename(made, file);
  if (mistake == Mistake::lock_that_stays) files::remove(made_as_lock);
  return true;
}

class WritersWithAMistake : public testing::TestWithParam<Found> {};

TEST_P(WritersWithAMistake, AreFound) {
  const Disk disk(Disk::ordinary);
  Store bad = wisdom();
  bad.write = [](const auto& folder, Entry e) { return write_badly(folder, e, GetParam().mistake); };

  std::string found;
  for (const std::string& wrong : KilledWriters(disk, {bad}).run(0.6)) found += wrong + "\n";

  EXPECT_NE(found.find(GetParam().as), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(Each, WritersWithAMistake,
                         testing::Values(Found{Mistake::in_place, "InPlace", "are not there"},
                                         Found{Mistake::said_too_soon, "SaidTooSoon", "are not there"},
                                         Found{Mistake::temporary_of_its_own, "TemporaryOfItsOwn",
                                               "a temporary file remains"},
                                         Found{Mistake::lock_that_stays, "LockThatStays", "the next write is refused"},
                                         Found{Mistake::no_lock, "NoLock", "are not there"}),
                         [](const auto& f) { return std::string(f.param.name); });

}  // namespace
}  // namespace compound::test
