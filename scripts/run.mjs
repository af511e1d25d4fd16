// node scripts/run.mjs <script> [arguments]: starts every command, also in a fresh clone and on a Node without support
// for TypeScript. Installs the packages of package-lock.json if they are missing or outdated (that needs the network
// once), bundles scripts/<script>.ts into build/scripts and calls its `command` with the arguments.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const inProject = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const textOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

/** Runs `npm ci` if node_modules is missing or was installed from another lock file or platform; returns the step. */
function installPackages() {
  const stamp = inProject('node_modules/.clearformer-lock');
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const name of ['package.json', 'package-lock.json']) hash.update(`\0${name}\0${textOf(inProject(name))}`);
  const digest = hash.digest('hex');
  if (textOf(stamp) === digest) return [];
  const title = 'Installing the npm packages (npm ci)';
  console.error(`• ${title} …`); // standard output may be a script's result
  const start = Date.now();
  const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const [cwd, shell] = [inProject(''), process.platform === 'win32'];
  const { status, error } = spawnSync('npm', args, { cwd, shell, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) {
    const reason = error?.message ?? `exit code ${status}`;
    console.error(`\nnpm ci failed (${reason}). The packages are needed once; later runs need no network.`);
    process.exit(1);
  }
  writeFileSync(stamp, digest);
  const time = `${Math.round((Date.now() - start) / 1000)} s`;
  console.error(`  done in ${time}: ${title}`);
  return [{ title, start, time }];
}

/** Bundles a script with its imports, except packages; returns the bundle's file. */
async function bundled(script) {
  const { build } = await import('esbuild');
  const name = script.replaceAll('/', '_');
  const { outputFiles } = await build({
    entryPoints: { [name]: inProject(`scripts/${script}.ts`) },
    outdir: inProject('build/scripts'),
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', packages: 'external', target: 'node20' },
    // Without tsconfig.json's paths: `clearformer` is the built package, not web/src.
    ...{ tsconfigRaw: {}, sourcemap: 'inline', logLevel: 'error', write: false },
  });
  mkdirSync(inProject('build/scripts'), { recursive: true });
  for (const { path, text } of outputFiles) {
    if (textOf(path) === text) continue;
    const unfinished = `${path}.unfinished-${process.pid}`; // another process may read it meanwhile
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
  }
  return inProject(`build/scripts/${name}.js`);
}

const [script = '', ...words] = process.argv.slice(2);
if (!/^[\w/]+$/.test(script) || !existsSync(inProject(`scripts/${script}.ts`))) {
  console.error('usage: node scripts/run.mjs <script> [arguments], where there is a file scripts/<script>.ts');
  process.exit(2);
}
const earlier = installPackages();
process.setSourceMapsEnabled(true);
const { command } = await import(pathToFileURL(await bundled(script)).href);
await command(words, earlier);
