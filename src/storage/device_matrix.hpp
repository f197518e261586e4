// A matrix on a device, of one process or of several.
#pragma once

#include "backend/peers.hpp"
#include "storage/packed.hpp"

namespace compound {

/// A matrix; or of several processes this one's rows: by their own columns, and by those of others. Their devices
/// exchange what a product reads of others, or with transposes makes for them. Names what others own.
struct DeviceMatrix {
  const PackedMatrix* diagonal = nullptr;
  const PackedMatrix* off_diagonal = nullptr;  ///< of several processes
  PeerExchange* exchange = nullptr;            ///< the same
  void* ghosts = nullptr;                      ///< device memory, where the others' values arrive

  Backend& backend() const { return diagonal->backend(); }
  /// y = [z +] op(A) x. Of several processes all of them do it; `dot`, with op none alone there, is this one's part.
  void multiply(Op op, Update update, const void* x, const void* z, void* y, const ProductDot& dot = {}) const;
  /// PackedMatrix::smooths() and smooth() of all its parts.
  bool smooths() const;
  void smooth(const smoothing_args& step, const void* x, const void* b, void* y) const;

 private:
  bool has_ghosts() const { return off_diagonal && off_diagonal->entries() > 0; }
};

}  // namespace compound
