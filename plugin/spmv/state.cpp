#include "spmv/state.hpp"

namespace compound::plugin {

PetscErrorCode State::recall(Mat A) {
  return kept_settings.give_back(A, [&](KeptSettings::Kept& back) {
    back.settings.version = settings.version + 1;
    settings = std::move(back.settings);
    if (!base_mult) base_mult = back.base_mult;
    if (!base_multadd) base_multadd = back.base_multadd;
    if (back.unguarded) {  // the guards are A's again; what came in with C had none
      unguarded = std::move(back.unguarded);
      unguard(A, *this);
    }
    return back.compose(A);
  });
}

}  // namespace compound::plugin
