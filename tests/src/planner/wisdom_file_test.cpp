#include "planner/wisdom_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "support/environment.hpp"
#include "support/processes.hpp"
#include "support/temporary.hpp"
#include "support/wisdom_entries.hpp"

namespace compound::test {
namespace {

namespace files = std::filesystem;

void put(const files::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
  files::permissions(file, files::perms(0600));
}

mode_t mode_of(const files::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

std::vector<WisdomEntry> entries_of(int first, int end) {
  std::vector<WisdomEntry> entries;
  for (int n = first; n < end; ++n) entries.push_back(wisdom_entry(n));
  return entries;
}

bool is_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class WisdomFileTest : public testing::Test {
 protected:
  std::string add(int first, int end) const { return add_to_wisdom(file_, entries_of(first, end)); }

  /// Reading says why not, and so does writing, which leaves what is there.
  void expect_not_used(const std::string& reason) const {
    const WisdomFile read = read_wisdom(file_);
    EXPECT_EQ(read.wisdom.size(), 0u);
    EXPECT_PRED2(is_in, read.problem, reason);
    EXPECT_PRED2(is_in, add(5, 6), reason);
  }

  const TemporaryFolder temporary_;
  const files::path folder_ = temporary_.path();
  files::path file_ = folder_ / "wisdom";
};

TEST_F(WisdomFileTest, ThatIsMissingIsEmptyWithoutAReason) {
  const WisdomFile read = read_wisdom(file_);

  EXPECT_EQ(read.wisdom.size(), 0u);
  EXPECT_EQ(read.problem, "");
}

TEST_F(WisdomFileTest, GivesBackWhatWasAdded) {
  EXPECT_EQ(add(0, 5), "");

  const WisdomFile read = read_wisdom(file_);

  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.wisdom.entries(), entries_of(0, 5));
}

TEST_F(WisdomFileTest, IsForItsOwnerOnlyInTheDefaultFolderThatIsMade) {
  const Variable cache("XDG_CACHE_HOME", folder_ / "made");
  file_ = files::path(user_cache_folder()) / "wisdom";

  EXPECT_EQ(add(0, 1), "");

  EXPECT_EQ(mode_of(file_), 0600u);
  EXPECT_EQ(mode_of(folder_ / "made"), 0700u);
  EXPECT_EQ(mode_of(folder_ / "made" / "petsc-compound"), 0700u);
  EXPECT_FALSE(files::exists(file_.string() + ".new"));
}

TEST_F(WisdomFileTest, IsNotKeptInAnotherFolderThatIsNotThere) {
  file_ = folder_ / "mistyped" / "wisdom";

  EXPECT_PRED2(is_in, add(0, 1), "/mistyped of the wisdom file is not there; make it");

  EXPECT_FALSE(files::exists(folder_ / "mistyped"));
}

TEST_F(WisdomFileTest, KeepsWhatOthersWroteAndTheLastOfAKey) {
  EXPECT_EQ(add(0, 3), "");
  WisdomEntry better = wisdom_entry(1);
  better.gain = 2;

  EXPECT_EQ(add_to_wisdom(file_, {wisdom_entry(7), better}), "");

  EXPECT_EQ(read_wisdom(file_).wisdom.entries(),
            (std::vector{wisdom_entry(0), wisdom_entry(2), wisdom_entry(7), better}));
}

TEST_F(WisdomFileTest, MergesLinesOfNewerSchemas) {
  const std::string line = "plan2 of=\"tomorrow\"", newer = line + " check=\"" + hash_of(line) + "\"";
  Wisdom wisdom;
  wisdom.add_lines(newer);
  EXPECT_EQ(add(0, 1), "");

  EXPECT_EQ(merge_into_wisdom(file_, wisdom), "");

  const Wisdom both = read_wisdom(file_).wisdom;
  EXPECT_EQ(both.entries(), entries_of(0, 1));
  EXPECT_PRED2(is_in, both.lines(), newer);
}

TEST_F(WisdomFileTest, IsLookedUpWithoutBeingRead) {
  EXPECT_EQ(add(0, 3), "");
  WisdomKey unknown = wisdom_entry(1).key;
  unknown.problem = "5x5";

  const WisdomLookUp found = look_up_wisdom(file_, wisdom_entry(1).key), none = look_up_wisdom(file_, unknown);

  ASSERT_TRUE(found.found);
  EXPECT_EQ(found.found->entry, wisdom_entry(1));
  EXPECT_FALSE(none.found);
  EXPECT_EQ(found.problem + none.problem + look_up_wisdom(folder_ / "missing", unknown).problem, "");
  EXPECT_PRED2(is_in, look_up_wisdom("/dev/zero", unknown).problem, "is not a regular file");
}

TEST_F(WisdomFileTest, IsNotTouchedWhereNothingIsAdded) {
  EXPECT_EQ(add_to_wisdom(file_, {}), "");

  EXPECT_TRUE(files::is_empty(folder_));
}

TEST_F(WisdomFileTest, KeepsTheOthersWhereAnEntryCannotBeKept) {
  WisdomEntry absurd = wisdom_entry(1);
  absurd.seconds = -1;

  EXPECT_PRED2(is_in, add_to_wisdom(file_, {wisdom_entry(0), absurd, wisdom_entry(2)}), "cannot keep this seconds");

  EXPECT_EQ(read_wisdom(file_).wisdom.entries(), (std::vector{wisdom_entry(0), wisdom_entry(2)}));
}

TEST_F(WisdomFileTest, NeedsAName) {
  for (const std::string& path : {std::string(), folder_.string() + "/"})
    EXPECT_PRED2(is_in, add_to_wisdom(path, entries_of(0, 1)), "names no file");

  EXPECT_TRUE(files::is_empty(folder_));
}

TEST_F(WisdomFileTest, CutOffAnywhereHasTheEntriesBeforeTheCut) {
  EXPECT_EQ(add(0, 3), "");
  const std::string whole = content_of(file_);
  const std::vector<WisdomEntry> all = entries_of(0, 3);
  int invented = 0;

  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::ofstream(file_, std::ios::binary) << whole.substr(0, size);
    for (const WisdomEntry& entry : read_wisdom(file_).wisdom.entries())
      invented += std::count(all.begin(), all.end(), entry) != 1;
  }

  EXPECT_EQ(invented, 0);
  EXPECT_EQ(read_wisdom(file_).wisdom.entries(), all);
}

TEST_F(WisdomFileTest, WrittenAgainHasNewerLinesAndNoDamagedOnes) {
  const std::string line = "plan2 of=\"tomorrow\"", newer = line + " check=\"" + hash_of(line) + "\"\n";
  EXPECT_EQ(add(0, 1), "");
  put(file_, content_of(file_) + newer + "plan1 damaged\nand foreign\n");

  EXPECT_EQ(add(1, 2), "");

  EXPECT_TRUE(is_in(content_of(file_), newer));
  EXPECT_FALSE(is_in(content_of(file_), "damaged"));
  EXPECT_FALSE(is_in(content_of(file_), "foreign"));
  EXPECT_EQ(read_wisdom(file_).wisdom.entries(), entries_of(0, 2));
}

TEST_F(WisdomFileTest, OfForeignContentIsLeftAlone) {
  std::string random(100000, '\0');
  std::ifstream("/dev/urandom", std::ios::binary).read(random.data(), static_cast<std::streamsize>(random.size()));

  for (const std::string& content :
       {content_of("/bin/sh"), random, std::string(1 << 24, '\n'), std::string("my thesis\n")}) {
    put(file_, content);
    expect_not_used("has no line of wisdom");
    EXPECT_TRUE(content_of(file_) == content);
  }
}

TEST_F(WisdomFileTest, LargerThanSixteenMegabytesIsNotRead) {
  put(file_, std::string().append(20000000, '\n'));

  expect_not_used("is larger than 16 MB");
}

TEST_F(WisdomFileTest, DoesNotGrowBeyondSixteenMegabytes) {
  EXPECT_EQ(add(0, 1), "");
  const std::string before = content_of(file_);

  EXPECT_PRED2(is_in, add(0, (16 << 20) / static_cast<int>(before.size()) + 1), "would be larger than 16 MB");

  EXPECT_EQ(content_of(file_), before);
}

TEST_F(WisdomFileTest, OfAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a file away";
  EXPECT_EQ(add(0, 1), "");
  ASSERT_EQ(chown(file_.c_str(), 12345, 12345), 0);

  expect_not_used("belongs to another user (12345)");
}

TEST_F(WisdomFileTest, OfRootIsReadByAll) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can write a file of root";
  EXPECT_EQ(add(0, 3), "");
  files::permissions(file_, files::perms(0644));
  files::permissions(folder_, files::perms(0755));

  EXPECT_EQ(status_of(start([&] {
              if (seteuid(12345) != 0) return 98;
              return static_cast<int>(read_wisdom(file_).wisdom.size());
            })),
            3);
}

TEST_F(WisdomFileTest, WritableByOthersIsNotUsed) {
  EXPECT_EQ(add(0, 1), "");
  for (const int mode : {0620, 0602, 0666}) {
    files::permissions(file_, files::perms(mode));
    expect_not_used("may be written by others; chmod go-w");
  }
}

TEST_F(WisdomFileTest, BehindALinkIsReadAndTheLinkReplaced) {
  EXPECT_EQ(add(0, 2), "");
  const files::path other = folder_ / "other";
  files::rename(file_, other);
  const std::string before = content_of(other);
  files::create_symlink(other, file_);

  EXPECT_EQ(read_wisdom(file_).wisdom.size(), 2u);
  EXPECT_EQ(add(2, 3), "");

  EXPECT_FALSE(files::is_symlink(file_));
  EXPECT_EQ(read_wisdom(file_).wisdom.size(), 3u);
  EXPECT_EQ(content_of(other), before);
}

TEST_F(WisdomFileTest, LinkedToSomeoneElsesIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a file away";
  EXPECT_EQ(add(0, 2), "");
  files::rename(file_, folder_ / "other");
  ASSERT_EQ(chown((folder_ / "other").c_str(), 12345, 12345), 0);
  files::create_symlink(folder_ / "other", file_);

  expect_not_used("belongs to another user (12345)");
}

TEST_F(WisdomFileTest, LinkedToItselfOrBelowAFileIsNotUsed) {
  files::create_symlink(file_, file_);
  expect_not_used("cannot be opened");

  files::remove(file_);
  put(file_, "");
  file_ /= "below";
  EXPECT_PRED2(is_in, read_wisdom(file_).problem, "cannot be opened: Not a directory");
  EXPECT_PRED2(is_in, add(0, 1), "cannot be opened: Not a directory");
}

TEST_F(WisdomFileTest, ThatIsAFolderOrADeviceIsNotUsed) {
  files::create_directory(file_);
  expect_not_used("is not a regular file");
  EXPECT_TRUE(files::is_directory(file_));

  EXPECT_PRED2(is_in, read_wisdom("/dev/zero").problem, "is not a regular file");
}

TEST_F(WisdomFileTest, ThatIsAPipeKeepsNoOneWaiting) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((file_.string() + ".lock").c_str(), 0600), 0);

  EXPECT_EQ(status_of(start([&] {
              alarm(20);
              return is_in(read_wisdom(file_).problem, "not a regular file") && is_in(add(0, 1), "not a regular file")
                         ? 0
                         : 1;
            })),
            0);
}

TEST_F(WisdomFileTest, ThatCannotBeReadIsNotUsed) {
  EXPECT_EQ(add(0, 1), "");
  files::permissions(file_, files::perms(0));
  files::permissions(folder_, files::perms(0755));

  EXPECT_EQ(status_of(start([&] {
              if (geteuid() == 0 && seteuid(12345) != 0) return 98;  // root reads anything
              return is_in(read_wisdom(file_).problem, "cannot be opened: Permission denied") ? 0 : 1;
            })),
            0);
}

TEST_F(WisdomFileTest, InAFolderThatIsReadOnlyStaysAsItIs) {
  EXPECT_EQ(add(0, 1), "");
  files::remove(file_.string() + ".lock");
  const std::string before = content_of(file_);
  files::permissions(folder_, files::perms(0555));

  EXPECT_EQ(status_of(start([&] {
              if (geteuid() == 0 && seteuid(12345) != 0) return 98;  // root writes anywhere
              return is_in(add(1, 2), "wisdom.lock cannot be opened: Permission denied") ? 0 : 1;
            })),
            0);

  EXPECT_EQ(content_of(file_), before);
  files::permissions(folder_, files::perms(0700));
}

TEST_F(WisdomFileTest, OnAFullDiskStaysAsItIs) {
  EXPECT_EQ(add(0, 3), "");
  const std::string before = content_of(file_);

  EXPECT_EQ(status_of(start([&] {
              const rlimit limit{before.size() + 100, before.size() + 100};
              std::signal(SIGXFSZ, SIG_IGN);
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 98;
              return is_in(add(3, 6), "wisdom.new cannot be written: File too large") ? 0 : 1;
            })),
            0);

  EXPECT_EQ(content_of(file_), before);
  EXPECT_FALSE(files::exists(file_.string() + ".new"));
}

TEST_F(WisdomFileTest, StaysAsItIsWhereAFolderStandsInTheWayOfTheNewOne) {
  EXPECT_EQ(add(0, 1), "");
  const std::string before = content_of(file_);
  files::create_directory(file_.string() + ".new");

  EXPECT_PRED2(is_in, add(1, 2), "wisdom.new cannot be made");

  EXPECT_EQ(content_of(file_), before);
}

TEST_F(WisdomFileTest, IsGivenUpWhereAnotherHoldsTheLock) {
  EXPECT_EQ(add(0, 1), "");
  const int lock = open((file_.string() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);

  EXPECT_PRED2(is_in, add(1, 2), "has been locked by another process for 2 seconds");

  close(lock);
  EXPECT_EQ(add(1, 2), "");
}

TEST_F(WisdomFileTest, IsWrittenAfterAWriterThatWasEnded) {
  put(file_.string() + ".new", "half of a li");
  put(file_.string() + ".lock", "");

  EXPECT_EQ(add(0, 1), "");

  EXPECT_EQ(read_wisdom(file_).wisdom.entries(), entries_of(0, 1));
}

}  // namespace
}  // namespace compound::test
