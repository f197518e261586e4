#include "spmv/state.hpp"

namespace compound::plugin {

PetscErrorCode take_kept_settings(Mat A, State& st) {
  return kept_settings.give_back(A, [&](KeptSettings::Kept& kept) {
    kept.settings.version = st.settings.version + 1;
    st.settings = std::move(kept.settings);
    return kept.compose(A);
  });
}

}  // namespace compound::plugin
