#pragma once

namespace compound {

class Backend;

/// The backend that is always there: one thread of this process.
Backend* host_backend();

}  // namespace compound
