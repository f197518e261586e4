// Tables of devices: their text, files of a user's own, and which one a device takes; and how their seconds are fitted.
#include "planner/device_tables.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "planner/model_fit.hpp"
#include "support/environment.hpp"
#include "support/random.hpp"
#include "support/temporary.hpp"

namespace compound::test {
namespace {

const std::vector<DeviceTable> built_in = device_tables().all;
const DeviceTable h200 = built_in.front();

DeviceTable called(const std::string& name) {
  DeviceTable t = h200;
  t.name = name;
  return t;
}

std::string reason(const std::string& text) {
  try {
    parse_device_tables(text, "mine");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(DeviceTables, AreReadAsTheyAreWritten) {
  EXPECT_EQ(parse_device_tables(to_string(h200), ""), std::vector{h200});
  EXPECT_EQ(parse_device_tables("# two\n\n" + to_string(h200) + "\n" + to_string(called("B")) + "\r\n", "").size(), 2u);
  EXPECT_TRUE(parse_device_tables("", "").empty());
}

TEST(DeviceTables, SayWhatIsWrongWithALine) {
  const std::string line = to_string(h200);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = line;
    return reason("#\n" + other.replace(other.find(from), from.size(), to));
  };
  EXPECT_NE(with("device1", "device9").find("mine, line 2: begins with 'device9'; tables begin with device1"),
            std::string::npos);
  EXPECT_NE(with("name=\"NVIDIA", "name=NVIDIA").find("has no name="), std::string::npos);
  EXPECT_NE(with(" gather=", " gathers=").find("'gathers="), std::string::npos);
  EXPECT_NE(with(" gather=1.31e-13", "").find("has no gather="), std::string::npos);
  EXPECT_NE(with(" gather=1.31e-13", " gather=1 gather=1").find("'gather=1', which is no number"), std::string::npos);
  for (const char* bad : {"gather=-1", "gather=", "gather=1x", "gather=nan", "gather=inf", "gather=1e300"})
    EXPECT_NE(with("gather=1.31e-13", bad).find("expected a number that is not negative"), std::string::npos) << bad;
  EXPECT_NE(with("cache=62914560", "cache=0").find("expected a number above 0"), std::string::npos);
  EXPECT_NE(with("kept_all=46000000", "kept_all=56e6").find("must be less"), std::string::npos);
}

/// Nothing that is cut off passes for a table.
TEST(DeviceTables, AreNotReadWhereTheyAreCutOff) {
  const std::string line = to_string(h200);
  const std::size_t last = line.rfind('=') + 2;  // a shorter number is a number
  for (std::size_t n = 1; n < last; ++n) EXPECT_NE(reason(line.substr(0, n)), "") << line.substr(0, n);
}

TEST(DeviceTables, AreTakenByNameElseByWhatIsNearest) {
  DeviceTable small = called("small"), slow = called("slow"), again = h200;
  small.multiprocessors = 20;
  small.cache = 4e6;
  slow.bandwidth = h200.bandwidth / 2;
  again.launch_s = 1;
  const std::vector<DeviceTable> all = {h200, small, slow, again};
  EXPECT_EQ(table_for(all, h200.name, small.traits()).launch_s, 1) << "the last of a name";
  EXPECT_EQ(table_for(all, "another", {16, 2 << 20, 0}).name, "small");
  EXPECT_EQ(table_for(all, "another", {132, 60 << 20, 2.5e12}).name, "slow");
  EXPECT_EQ(table_for(all, "another", {}).name, h200.name) << "nothing is known";
}

class DevicesFile : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string file = folder / "tables";
  const Variable named{"COMPOUND_DEVICES", file};
};

TEST(BuiltInTables, AreOfTheDevicesThatTheDocumentsName) {
  std::vector<std::string> names;
  for (const DeviceTable& table : built_in) names.push_back(table.name);
  EXPECT_EQ(names, (std::vector<std::string>{"NVIDIA H200", "NVIDIA H100 80GB HBM3"}));
  for (const DeviceTable& table : built_in) EXPECT_EQ(table_for(built_in, table.name, {}).name, table.name);
}

TEST_F(DevicesFile, ComesAfterWhatIsBuiltIn) {
  add_device_table(file, called("mine"));
  add_device_table(file, called("other"));
  DeviceTable mine = called("mine");
  mine.launch_s = 3e-6;
  add_device_table(file, mine);
  const DeviceTables tables = device_tables();
  EXPECT_EQ(tables.problem, "");
  std::vector<DeviceTable> wanted = built_in;
  wanted.insert(wanted.end(), {called("other"), mine});
  EXPECT_EQ(tables.all, wanted);
}

/// Comments, and numbers with all of their digits.
TEST_F(DevicesFile, KeepsWhatElseIsInIt) {
  DeviceTable mine = called("mine"), other = called("other");
  mine.memory_s = 1.77777777777e-14;
  std::ofstream(file) << "# of last year\n" << to_string(mine) << "\n\n# calibrated anew\n" << to_string(other) << "\n";
  other.launch_s = 1.0 / 3;
  add_device_table(file, other);
  const std::string text = content_of(file);
  EXPECT_EQ(text, "# of last year\n" + to_string(mine) + "\n\n# calibrated anew\n" + to_string(other) + "\n");
  EXPECT_EQ(parse_device_tables(text, "the file"), (std::vector{mine, other}));
}

TEST_F(DevicesFile, ReplacesWhatALinkPointsTo) {
  const std::string there = folder / "there";
  std::ofstream(there) << to_string(called("other")) << "\n";
  std::filesystem::create_symlink(there, file);
  add_device_table(file, called("mine"));
  EXPECT_TRUE(std::filesystem::is_symlink(file));
  EXPECT_EQ(parse_device_tables(content_of(there), "the file"), (std::vector{called("other"), called("mine")}));
}

/// compound-tune asks before it measures.
TEST_F(DevicesFile, IsAnErrorBeforeItIsWrittenWhereItCannotBe) {
  const std::string nowhere = folder / "none" / "devices";
  for (void (*ask)(const std::string&) :
       {check_file_of_devices, +[](const std::string& at) { add_device_table(at, h200); }})
    try {
      ask(nowhere);
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::argument);
      EXPECT_EQ(std::string(e.what()).find("file of devices '" + nowhere + "': "), 0U) << e.what();
    }
  check_file_of_devices(file);
  EXPECT_FALSE(std::filesystem::exists(file));
  std::ofstream(file) << "nonsense\n";
  EXPECT_THROW(check_file_of_devices(file), error);
}

TEST_F(DevicesFile, DoesNoHarmWhereItIsDamaged) {
  std::ofstream(file) << to_string(called("mine")) << "\nnonsense\n";
  EXPECT_EQ(device_tables().all, built_in);
  EXPECT_NE(device_tables().problem.find("line 2: begins with 'nonsense'"), std::string::npos);
  EXPECT_THROW(add_device_table(file, h200), error);
  std::filesystem::remove(file);
  EXPECT_NE(device_tables().problem.find(file), std::string::npos) << "missing";
  EXPECT_THROW(add_device_table("/no/such/folder/file", h200), error);
}

/// Of 80 plans that do a little of everything.
std::vector<Timed> timed_by(const DeviceTable& table, Random& random) {
  std::vector<Timed> all(80);
  for (Timed& t : all) {
    for (std::size_t i = 0; i < t.work.sums.size(); ++i)
      t.work.sums[i] = i == 0 ? 1 : 2e-6 * (1 + random.scalar<double>()) / (h200.*seconds_fields[i].value);
    t.seconds = seconds_of(table, t.work);
  }
  return all;
}

TEST(FittedTable, HasTheSecondsThatWereMeasured) {
  Random random;
  SCOPED_TRACE(seed_text());
  DeviceTable device = called("mine");
  for (const DeviceField& f : seconds_fields) device.*f.value *= 1 + 0.5 * random.scalar<double>();
  std::vector<Timed> timed = timed_by(device, random);
  timed.push_back(timed.front());
  timed.back().seconds *= 5;
  timed.back().of_best = 5;

  const DeviceTable found = fitted(called("mine"), timed);

  for (const DeviceField& f : seconds_fields) EXPECT_NEAR(found.*f.value / (device.*f.value), 1, 1e-3) << f.name;
  EXPECT_EQ(found.name, "mine");
}

TEST(FittedTable, HasNothingBelowZeroAndKeepsWhatWasNotMeasured) {
  Random random;
  std::vector<Timed> timed = timed_by(h200, random);
  for (Timed& t : timed) {
    t.seconds -= t.work.sums[3] * 2 * h200.gather_s;  // as if gathering saved time
    t.work.sums[8] = 0;
  }
  const DeviceTable found = fitted(h200, timed);
  EXPECT_EQ(found.gather_s, 0);
  EXPECT_EQ(found.chunk_entry_s, h200.chunk_entry_s);
  EXPECT_EQ(fitted(h200, {}), h200);
}

}  // namespace
}  // namespace compound::test
