// Debian packages: installed in the system by root, or unpacked without installing: with a private apt state in the
// cache for the machine's own archive and any suite, packages are unpacked into a folder, which any user may do and
// which leaves the system unchanged.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { cacheFolder, withLock } from './cache.js';
import { type Environment, inParallel, query, run, SetupError, step } from './progress.js';

const sources = '/etc/apt';

export async function haveApt(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return (await query('apt-get', ['--version'])) !== '' && (await query('dpkg', ['--version'])) !== '';
}

/** Installs packages in the system when running as root with apt; returns whether it did. */
export async function installPackages(what: string, packages: readonly string[]): Promise<boolean> {
  if (process.getuid?.() !== 0 || !(await haveApt())) return false;
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await step(`Installing ${what} (apt-get, as root)`, async () => {
    await run('apt-get', ['update', '-q'], options);
    await run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], options);
  });
  return true;
}

/** The machine's own suite ("bookworm"), or '' if unknown. */
export function ownSuite(): string {
  if (!existsSync('/etc/os-release')) return '';
  return /^VERSION_CODENAME="?(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
}

function sourceFiles(extension: string): string[] {
  const folder = join(sources, 'sources.list.d');
  const parts = existsSync(folder) ? readdirSync(folder).sort() : [];
  return parts.filter((name) => name.endsWith(extension)).map((name) => join(folder, name));
}

/** Fields of a stanza of a deb822 file, in lower case: types, uris, suites, components, signed-by. */
type Stanza = Partial<Record<string, string>>;

// Continuation lines are joined.
function parseStanza(text: string): Stanza {
  const fields: Stanza = {};
  let last = '';
  for (const line of text.split('\n').filter((each) => each.trim() && !each.startsWith('#'))) {
    const [, key, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (key) last = key.toLowerCase();
    if (last) fields[last] = key ? value : `${fields[last]}\n${line}`;
  }
  return fields;
}

function deb822Stanzas(): Stanza[] {
  const files = sourceFiles('.sources').map((file) => readFileSync(file, 'utf8'));
  return files
    .flatMap((text) => text.split(/\n\s*\n/).map(parseStanza))
    .filter((stanza) => stanza.uris && stanza.suites && stanza.enabled?.toLowerCase() !== 'no');
}

// `deb [signed-by=FILE] URI SUITE COMPONENT…` as the same kind of stanza.
function oneLineStanzas(): Stanza[] {
  const list = join(sources, 'sources.list');
  const files = [...(existsSync(list) ? [list] : []), ...sourceFiles('.list')];
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  return lines.flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)/.exec(line);
    if (!match) return [];
    const signedBy = /signed-by=(\S+)/i.exec(match[1] ?? '')?.[1];
    return [{ types: 'deb', uris: match[2], suites: match[3], ...(signedBy && { 'signed-by': signedBy }) }];
  });
}

// The machine's main archive: the stanza with its own suite without a suffix such as -updates or -security.
function archiveStanza(): Stanza | undefined {
  const suite = ownSuite();
  const names = [suite, 'stable', 'testing', 'unstable', 'sid'].filter(Boolean);
  const stanzas = [...deb822Stanzas(), ...oneLineStanzas()].filter(({ types }) => /\bdeb\b/.test(types ?? 'deb'));
  return stanzas.find(({ suites = '' }) => suites.split(/\s+/).some((each) => names.includes(each)));
}

function sourcesFor(suite: string): string {
  const stanza = archiveStanza();
  if (!stanza) throw new SetupError(`No package archive for ${ownSuite() || 'this system'} is named in ${sources}.`);
  const signedBy = stanza['signed-by'];
  const lines = ['Types: deb', `URIs: ${stanza.uris}`, `Suites: ${suite}`, 'Components: main'];
  return `${lines.join('\n')}\n${signedBy ? `Signed-By: ${signedBy}\n` : ''}`;
}

// The system's apt settings (proxies, certificates) without its hooks, with every path inside the private state.
async function aptConfig(state: string, suite: string): Promise<string> {
  const dump = (await run('apt-config', ['dump'])).stdout.split('\n');
  const kept = dump.filter((line) => !/^(Dir|DPkg|APT::Update|APT::NeverAutoRemove|Unattended)\b/i.test(line));
  const own = {
    'Dir::State': join(state, 'state'),
    'Dir::State::Lists': join(state, 'lists'),
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
    'Dir::Cache::archives': join(state, 'archives'),
    'Dir::Etc::SourceList': join(state, `${suite}.sources`),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::Parts': '/dev/null',
    'Dir::Etc::main': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'Dir::Log': join(state, 'log'),
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
    'APT::Install-Suggests': 'false',
    'APT::Get::Assume-Yes': 'true',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    'Acquire::http::Timeout': '30',
    'Acquire::https::Timeout': '30',
  };
  const lines = Object.entries(own).map(([key, value]) => `${key} "${value}";`);
  return `${[...kept, ...lines].join('\n')}\n`;
}

/** A private apt for `suite` ("forky") in the folder `state`: its environment and archive, with up-to-date lists. */
async function privateApt(state: string, suite: string): Promise<{ env: Environment; archives: string }> {
  for (const folder of ['state', 'lists/partial', 'cache', 'archives/partial', 'log']) {
    mkdirSync(join(state, folder), { recursive: true });
  }
  // An empty status file: apt assumes that nothing is installed, and downloads the whole closure.
  writeFileSync(join(state, 'status'), '');
  writeFileSync(join(state, `${suite}.sources`), sourcesFor(suite));
  writeFileSync(join(state, 'apt.conf'), await aptConfig(state, suite));
  const env = { APT_CONFIG: join(state, 'apt.conf'), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  await step(`Reading the package lists of ${suite}`, async () => {
    await run('apt-get', ['update', '-q', '--error-on=any'], { env });
  });
  return { env, archives: join(state, 'archives') };
}

const megabytes = (folder: string): string => {
  const files = [folder, join(folder, 'partial')].flatMap((each) => readdirSync(each).map((name) => join(each, name)));
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  return `${Math.round(bytes / 1e6)} MB`;
};

export interface Selection {
  /** Whether to include all dependencies. */
  closure: boolean;
  /** Package files to leave out. */
  without?: RegExp;
}

/** Downloads `packages` of `suite` and unpacks them into `root`. */
export async function unpackPackages(
  root: string,
  suite: string,
  packages: readonly string[],
  { closure, without = /^$/ }: Selection,
): Promise<void> {
  await withLock(async () => {
    // The state's name is new each time: processes of a killed run may still use the old one.
    const states = join(cacheFolder(), 'apt');
    rmSync(states, { recursive: true, force: true, maxRetries: 5 });
    const { env, archives } = await privateApt(join(states, `${suite}-${process.pid}`), suite);
    const options = { env, cwd: archives };
    const args = closure ? ['install', '-q', '--download-only', ...packages] : ['download', '-q', ...packages];
    const title = `Downloading ${packages.join(', ')} of ${suite}`;
    const download = () => run('apt-get', args, options);
    await step(title, download, () => megabytes(archives));
    const files = readdirSync(archives).filter((name) => name.endsWith('.deb') && !without.test(name));
    await step(`Unpacking ${files.length} packages`, () =>
      inParallel(files, 2, (file) => run('dpkg-deb', ['-x', join(archives, file), root])),
    );
    rmSync(states, { recursive: true, force: true });
  });
}
