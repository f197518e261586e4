#include "petsc/log.hpp"

#include <iterator>

namespace compound::plugin {

namespace {

constexpr const char* names[] = {"MatCompoundPack", "MatCompoundUpload", "MatCompoundCompile", "MatCompoundTune"};
PetscLogEvent events[std::size(names)];

}  // namespace

PetscLogEvent log_event(Event event) { return events[static_cast<int>(event)]; }

PetscErrorCode register_log_events() {
  PetscFunctionBegin;
  for (std::size_t i = 0; i < std::size(names); ++i)
    PetscCall(PetscLogEventRegister(names[i], MAT_CLASSID, &events[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
