// Every kind of entry there is.
#pragma once

#include "complex.hpp"
#include "dense.hpp"
#include "diagonal.hpp"
#include "dual_quaternion.hpp"
#include "quaternion.hpp"
#include "scaled_identity.hpp"
#include "unit_quaternion.hpp"
