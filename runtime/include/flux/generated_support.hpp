/// \file
/// The only header that generated code includes. What it brings is the contract between the compiler and the runtime
/// (in the compiler: `crates/contract`); a change that older generated code would not survive raises the number below.
#pragma once

#include "flux/flow/branch.hpp"
#include "flux/flow/each.hpp"
#include "flux/constraint/constraint.hpp"
#include "flux/error.hpp"
#include "flux/expected.hpp"
#include "flux/flow/flow.hpp"
#include "flux/constraint/key.hpp"
#include "flux/flow/outcome.hpp"
#include "flux/flow/program.hpp"
#include "flux/server/server.hpp"
#include "flux/flow/copy.hpp"
#include "flux/flow/within.hpp"

#include <utility>

#define FLUX_GENERATED_SUPPORT 1
