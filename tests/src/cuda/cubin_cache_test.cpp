// The cache of cubins: what is kept, what is refused, what is made again. No GPU needed.
#include "cuda/cubin_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "cuda/nvrtc.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/processes.hpp"
#include "support/temporary.hpp"

namespace compound::cuda {
namespace {

namespace files = std::filesystem;
using test::content_of;
using test::start;
using test::status_of;

const std::string source = "#include \"operation.hpp\"\nextern \"C\" __global__ void one(int* y) { *y = 1; }\n";
const char* const no_nvrtc = "/no/such/folder/libnvrtc.so";

void put(const files::path& file, const std::string& content) { std::ofstream(file, std::ios::binary) << content; }

/// Every test works in children, so that NVRTC is never open here and each child may pretend that there is none.
class CubinCache : public testing::Test {
 protected:
  void SetUp() override {
    if (status_of(start([] { return nvrtc_version() ? 0 : 1; })) != 0)
      GTEST_SKIP() << "skipped: NVRTC (libnvrtc.so) is not on this machine";
  }

  /// Compiles that a process needs for the source; 99 if it fails, 50 if it gets no cubin.
  static int compiles(const std::string& text = source, int capability = 90) {
    return status_of(start([&] {
      const std::string code = cubin_of(text, capability);
      return code.substr(1, 3) == "ELF" ? compile_count() : 50;
    }));
  }

  std::vector<files::path> kept() const {
    std::vector<files::path> result;
    if (files::exists(folder_))
      for (const auto& entry : files::directory_iterator(folder_)) result.push_back(entry.path());
    return result;
  }
  files::path only_file() const { return kept().size() == 1 ? kept()[0] : files::path(); }

  const test::TemporaryFolder parent_;
  const files::path folder_ = parent_ / "made" / "cubins";
  const test::Variable cache_{"COMPOUND_CUDA_CACHE", folder_};
};

TEST_F(CubinCache, CompilesOnceForAllProcesses) {
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(compiles(), 0);
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(CubinCache, GivesTheCodeThatNvrtcGave) {
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(status_of(start([] { return cubin_of(source, 90) == compile(source, 90) ? 0 : 1; })), 0);
}

TEST_F(CubinCache, CompilesManyAtOnceAndKeepsThem) {
  std::vector<std::string> sources(5, source);
  for (std::size_t n = 0; n < sources.size(); ++n) sources[n] += std::string(n, '\n');
  sources[2] = "this is no source";

  EXPECT_EQ(status_of(start([&] {
              const auto cubins = cubins_of(sources, 90);
              int right = 0;
              for (std::size_t n = 0; n < sources.size(); ++n)
                right += n == 2 ? !cubins[n] : cubins[n] == compile(sources[n], 90);
              return right;
            })),
            5);
  EXPECT_EQ(kept().size(), 4u);
  EXPECT_EQ(compiles(sources[4]), 0);
  EXPECT_TRUE(cubins_of({}, 90).empty());
}

TEST_F(CubinCache, TellsSourcesAndCapabilitiesApart) {
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(compiles(source + "\n"), 1);
  EXPECT_EQ(compiles(source, 80), 1);
  EXPECT_EQ(kept().size(), 3u);
}

TEST_F(CubinCache, IsForItsOwnerOnly) {
  EXPECT_EQ(compiles(), 1);
  struct stat folder, file;
  ASSERT_EQ(stat(folder_.c_str(), &folder), 0);
  ASSERT_EQ(stat(only_file().c_str(), &file), 0);
  EXPECT_EQ(folder.st_mode & 0777u, 0700u);
  EXPECT_EQ(file.st_mode & 0777u, 0600u);
}

TEST_F(CubinCache, CompilesADamagedFileAgain) {
  EXPECT_EQ(compiles(), 1);
  const std::string good = content_of(only_file());
  const std::size_t header = good.find('\n');
  std::vector<std::string> damaged = {"",
                                      "\n",
                                      good.substr(0, header),
                                      good.substr(0, header + 1),
                                      good.substr(0, good.size() / 2),
                                      good.substr(0, good.size() - 1),
                                      good + "x"};
  for (const std::size_t at : {std::size_t{0}, header - 1, header + 1, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 1;
  }
  for (const std::string& content : damaged) {
    put(only_file(), content);
    EXPECT_EQ(compiles(), 1) << content.size() << " bytes of " << good.size();
    EXPECT_EQ(content_of(only_file()), good);
  }
  EXPECT_EQ(compiles(), 0);
}

TEST_F(CubinCache, ReadsNoFileOfAnotherKey) {
  EXPECT_EQ(compiles(), 1);
  const files::path first = only_file();
  const std::string good = content_of(first);
  files::remove(first);
  EXPECT_EQ(compiles(source + "\n"), 1);
  put(only_file(), good);
  EXPECT_EQ(compiles(source + "\n"), 1);
}

TEST_F(CubinCache, OfAnotherNvrtcIsCompiledAgain) {
  EXPECT_EQ(compiles(), 1);
  const std::string name = only_file().filename();
  files::rename(only_file(), folder_ / (name.substr(0, name.rfind("-nvrtc")) + "-nvrtc1.2.cubin"));
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(CubinCache, IsNotUsedIfOthersMayWriteToIt) {
  for (const mode_t mode : {0770, 0707, 0777}) {
    files::create_directories(folder_);
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(compiles(), 1);
    EXPECT_EQ(compiles(), 1);
    EXPECT_TRUE(kept().empty());
    EXPECT_NE(why_no_cubin_cache().find("may be written by others"), std::string::npos) << why_no_cubin_cache();
  }
}

TEST_F(CubinCache, IsNotUsedIfItIsSomeoneElses) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a folder away";
  EXPECT_EQ(compiles(), 1);
  ASSERT_EQ(chown(folder_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(compiles(), 1);
  EXPECT_NE(why_no_cubin_cache().find("belongs to another user"), std::string::npos) << why_no_cubin_cache();
}

TEST_F(CubinCache, TrustsNoFileThatIsSomeoneElsesOrWritableOrALink) {
  EXPECT_EQ(compiles(), 1);
  ASSERT_EQ(chmod(only_file().c_str(), 0666), 0);
  EXPECT_EQ(compiles(), 1);
  const files::path file = only_file();
  files::rename(file, parent_ / "elsewhere");
  files::create_symlink(parent_ / "elsewhere", file);
  EXPECT_EQ(compiles(), 1);
  EXPECT_FALSE(files::is_symlink(file)) << "replaced";
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  EXPECT_EQ(compiles(), 1);
}

TEST_F(CubinCache, ThatCannotBeMadeIsDoneWithout) {
  put(parent_ / "made", "a file where the folder should be");
  EXPECT_EQ(compiles(), 1);
  EXPECT_NE(why_no_cubin_cache().find("cannot be made or opened"), std::string::npos) << why_no_cubin_cache();
}

TEST_F(CubinCache, WhereNothingCanBeWrittenIsDoneWithout) {
  std::optional<test::Variable> cache;
  if (geteuid() == 0) {
    cache.emplace("COMPOUND_CUDA_CACHE", "/proc/self");  // root writes anywhere else
  } else {
    files::create_directories(folder_);
    ASSERT_EQ(chmod(folder_.c_str(), 0500), 0);
  }
  EXPECT_EQ(compiles(), 1);
}

TEST_F(CubinCache, OffKeepsNothing) {
  const test::Variable cache("COMPOUND_CUDA_CACHE", "off");
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(compiles(), 1);
  EXPECT_EQ(why_no_cubin_cache(), "COMPOUND_CUDA_CACHE is off");
}

TEST_F(CubinCache, FollowsTheUsersFolders) {
  const test::Variable named("COMPOUND_CUDA_CACHE", {});
  {
    const test::Variable cache("XDG_CACHE_HOME", parent_ / "xdg");
    EXPECT_EQ(compiles(), 1);
    EXPECT_TRUE(files::exists(parent_ / "xdg" / "petsc-compound"));
  }
  const test::Variable cache("XDG_CACHE_HOME", {});
  {
    const test::Variable home("HOME", parent_.path());
    EXPECT_EQ(compiles(), 1);
    EXPECT_TRUE(files::exists(parent_ / ".cache" / "petsc-compound"));
  }
  const test::Variable home("HOME", {});
  EXPECT_EQ(compiles(), 1);
  EXPECT_NE(why_no_cubin_cache(), "");
}

class CarriedCache : public CubinCache {
 protected:
  void SetUp() override {
    CubinCache::SetUp();
    if (IsSkipped()) return;
    EXPECT_EQ(compiles(), 1);
    nvrtc_.emplace("COMPOUND_NVRTC", no_nvrtc);
  }

 private:
  std::optional<test::Variable> nvrtc_;
};

TEST_F(CarriedCache, WorksWithoutNvrtc) { EXPECT_EQ(compiles(), 0); }

TEST_F(CarriedCache, GivesTheNewestOfSeveralThatIsWhole) {
  const std::string name = only_file().filename();
  put(folder_ / (name.substr(0, name.rfind("-nvrtc")) + "-nvrtc99.1.cubin"), "damaged");
  EXPECT_EQ(compiles(), 0);
}

TEST_F(CarriedCache, WithoutTheKernelSaysThatNvrtcIsMissingAndWhatToDo) {
  const int status = status_of(start([] {
    const auto result = test::throws([] { cubin_of(source + "\n", 90); }, ErrorKind::unsupported, no_nvrtc);
    const auto remedy = test::throws([] { cubin_of(source + "\n", 90); }, ErrorKind::unsupported, "LD_LIBRARY_PATH");
    if (!result || !remedy) std::fprintf(stderr, "%s\n", result.message());
    return result && remedy ? 0 : 1;
  }));
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace compound::cuda
