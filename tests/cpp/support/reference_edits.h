// The edits of a fixture, `options.edits`, for a Trace: as functions, implemented for the
// tests only, and as the library's own Edit.
#pragma once

#include "clearformer/layers/trace.h"
#include "support/fixture.h"

namespace clearformer::test {

/// Adds each edit of the case: hook, op, and optionally head, pos (a number or a list) and value (a number
/// or the name of an input). See tests/references/README.md.
void add_functions(Trace& trace, const Case& reference);
void add_edits(Trace& trace, const Case& reference);

}  // namespace clearformer::test
