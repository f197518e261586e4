#include "spmv/state.hpp"

namespace compound::plugin {

PetscErrorCode State::recall(Mat A) { return take_kept_settings(A, *this); }

PetscErrorCode take_kept_settings(Mat A, State& st) {
  return kept_settings.give_back(A, [&](KeptSettings::Kept& kept) {
    kept.settings.version = st.settings.version + 1;
    st.settings = std::move(kept.settings);
    if (kept.unguarded) {  // the guards are A's again; what came in with C had none
      st.unguarded = std::move(kept.unguarded);
      unguard(A, st);
    }
    return kept.compose(A);
  });
}

}  // namespace compound::plugin
