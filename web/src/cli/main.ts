#!/usr/bin/env node
// npx clearformer: models from the command line.

import { run } from './run.js';

// Open handles (a pipe on standard input, a connection) must not keep the program alive.
process.exit(await run(process.argv.slice(2)));
