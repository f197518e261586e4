// A lock among processes: which process waits, for which, and for how long.
#include "base/lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "support/temporary.hpp"

namespace compound::test {
namespace {

using std::chrono::milliseconds;

class FileLocks : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string file = folder / "lock";
};

TEST_F(FileLocks, AreHadByOneAtATime) {
  std::optional<FileLock> first(std::in_place, file, milliseconds(0));
  EXPECT_EQ(first->problem(), "");
  EXPECT_EQ(FileLock(file, milliseconds(20)).problem(), file + " has been locked by another process for 0 seconds");
  first.reset();
  EXPECT_EQ(FileLock(file, milliseconds(0)).problem(), "");
}

TEST_F(FileLocks, AreFreeOnceTheirProcessIsKilled) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const FileLock held(file, milliseconds(0));
    (void)!::write(told[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  EXPECT_NE(FileLock(file, milliseconds(10)).problem(), "");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(FileLock(file, milliseconds(0)).problem(), "");
  close(told[0]);
  close(told[1]);
}

TEST_F(FileLocks, SayWhyThereIsNone) {
  EXPECT_NE(FileLock("/no/such/folder/lock", milliseconds(0)).problem().find("cannot be opened"), std::string::npos);
}

}  // namespace
}  // namespace compound::test
