#include "output_file.hpp"
#include "text.hpp"
#include "tune_case.hpp"

namespace compound::bench::tune {

void write_tune_csv(const std::string& file, const std::vector<TuneResult>& results) {
  std::string lines = "description,block,plan,sample,seconds,ratio\n";
  for (const TuneResult& r : results)
    for (const TunedPlan& p : r.plans)
      for (std::size_t i = 0; i < p.measured.samples.size(); ++i)
        lines += csv_text(r.description) + text(",%dx%d,", r.block.rows, r.block.cols) + csv_text(p.line) + "," +
                 std::to_string(i) + "," + csv_number(p.measured.samples[i].seconds) + "," +
                 csv_number(p.measured.samples[i].ratio) + "\n";
  write_output("-csv", file, lines);
}

}  // namespace compound::bench::tune
