// clearformer: the command line.
#include "tools/command_line.h"

int main(int argc, char** argv) { return clearformer::tools::run(argc, argv); }
