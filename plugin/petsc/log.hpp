#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// MatCompoundPack: encoding a pattern, packing values on the host. MatCompoundUpload: values to a device, and packing
/// them there. MatCompoundCompile: making a device's code. MatCompoundTune: measuring plans.
enum class Event { pack, upload, compile, tune };
PetscLogEvent log_event(Event event);

/// Copies to and from a device's memory.
inline PetscErrorCode log_upload([[maybe_unused]] std::size_t bytes) {
  return PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes));
}
inline PetscErrorCode log_download([[maybe_unused]] std::size_t bytes) {
  return PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes));
}

/// Runs `body`, which returns an error code, within an event.
template <class Body>
PetscErrorCode logged(Event event, Mat A, const Body& body) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(log_event(event), A, nullptr, nullptr, nullptr));
  PetscCall(body());
  PetscCall(PetscLogEventEnd(log_event(event), A, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An event from here to the end of a scope: where errors are exceptions.
class LogSpan {
 public:
  LogSpan(Event event, Mat A) : event_(event), A_(A) {
    static_cast<void>(PetscLogEventBegin(log_event(event_), A_, nullptr, nullptr, nullptr));
  }
  LogSpan(const LogSpan&) = delete;
  LogSpan& operator=(const LogSpan&) = delete;
  ~LogSpan() { static_cast<void>(PetscLogEventEnd(log_event(event_), A_, nullptr, nullptr, nullptr)); }

 private:
  Event event_;
  Mat A_;
};

/// Registers the events anew after each PetscInitialize(), which forgets them.
PetscErrorCode register_log_events();

}  // namespace compound::plugin
