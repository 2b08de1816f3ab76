/// \file
/// The only header that generated code includes. What it brings is the contract between the compiler and the runtime
/// (in the compiler: `crates/contract`); a change that older generated code would not survive raises the number below.
#pragma once

#include "flux/branch.hpp"
#include "flux/constraint.hpp"
#include "flux/error.hpp"
#include "flux/expected.hpp"
#include "flux/flow.hpp"
#include "flux/key.hpp"
#include "flux/outcome.hpp"
#include "flux/program.hpp"
#include "flux/server.hpp"
#include "flux/value.hpp"

#include <utility>

#define FLUX_GENERATED_SUPPORT 1
