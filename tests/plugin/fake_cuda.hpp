// Memory of a device that is not there, and the kernels of PETSc's vectors, for fake_cuda.cpp.
#pragma once

#include <petscsys.h>

#include <complex>
#include <string>
#include <type_traits>

namespace fake_cuda {

using Scalar = std::conditional_t<PetscDefined(USE_COMPLEX), std::complex<double>, double>;

inline double conjugate(double s) { return s; }
inline std::complex<double> conjugate(std::complex<double> s) { return std::conj(s); }

/// Ends the program.
[[noreturn]] void stop(const std::string& why);

bool is_of_device(const void* p);

/// p, which is the device's where it is used.
template <class T>
T* checked(T* p, bool is_used, const char* user) {
  if (is_used && !is_of_device(p)) stop(std::string(user) + " has memory of the host");
  return p;
}

/// Runs the kernel of this readable name.
void run_kernel(const std::string& name, void** arguments);

}  // namespace fake_cuda
