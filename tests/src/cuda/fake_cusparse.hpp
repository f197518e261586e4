// What a test sees of the cuSPARSE of plain loops.
#pragma once

#include <string_view>

namespace compound::test {

struct FakeCusparse {
  int alive = 0;                  ///< handles and descriptors that are not destroyed
  int calls = 0;                  ///< that may fail
  int preparations = 0;           ///< cusparseSpMV_preprocess()
  int algorithm = -1;             ///< of the last cusparseSpMV()
  std::string_view failing = {};  ///< the call that is to fail next
  int status = 0;                 ///< by this status
};

}  // namespace compound::test
