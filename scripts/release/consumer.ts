// A C++ project that fetches the library and builds all of it as a subproject: omitted in the tests of users' programs
// (tests/cpp/consumers) for speed.

import { tools } from '../build/cmake.js';
import { inProject } from '../build/fresh.js';
import { packageJson } from '../check/metadata.js';
import { run } from '../toolchain/progress.js';
import { findCppCompiler } from '../toolchain.js';

export async function checkWholeConsumer(): Promise<string> {
  const { cmake, ninja, xsimdInclude = '', rapidjsonInclude = '' } = await tools.build();
  const given = {
    WAY: 'fetch_content',
    COMPILER: findCppCompiler(),
    FOLDER: inProject('build/release_consumer'),
    SOURCE: inProject().replace(/\/$/, ''),
    XSIMD: xsimdInclude,
    RAPIDJSON: rapidjsonInclude,
    VERSION: packageJson().version,
    MODEL: inProject('web/demo/public/models/stories260K'),
    GENERATOR: 'Ninja',
    MAKE_PROGRAM: ninja,
  };
  const definitions = Object.entries(given).map(([name, value]) => `-D${name}=${value}`);
  await run(cmake, [...definitions, '-P', inProject('tests/cpp/consumers/test.cmake')], { cwd: inProject() });
  return 'fetched, built and run';
}
