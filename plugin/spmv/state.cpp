#include "spmv/state.hpp"

namespace compound::plugin {

PetscErrorCode State::recall(Mat A) {
  return kept_settings.give_back(A, [&](KeptSettings::Kept& back) {
    back.settings.version = settings.version + 1;
    settings = std::move(back.settings);
    if (!base_products.mult) base_products = back.base_products;
    if (back.unguarded) {  // the guards are A's again; what came in with C had none
      unguarded = std::move(back.unguarded);
      unguard(A, *this);
    }
    return back.compose(A);
  });
}

}  // namespace compound::plugin
