// The command line: which commands there are and what their arguments mean.
#pragma once

namespace clearformer::tools {

/// Runs what the arguments ask for. Returns the exit code: 0 done, 1 a problem with the files or the
/// input (told on standard error), 2 arguments that are not understood.
int run(int argc, char** argv);

}  // namespace clearformer::tools
