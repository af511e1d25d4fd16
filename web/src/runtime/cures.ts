// What can be done where the package's files cannot be had: the cure that works on this page, found out by trying. Loaded
// when something has failed; so that nothing else becomes a file of its own for it, it imports nothing.

/** How the package starts its workers here. */
interface Ways {
  /** Whether the script needs no other files. */
  inOneFile: boolean;
  /** Absent in Node. */
  start?: (url: string | URL) => Worker;
}

/** Content security policies name themselves in what engines say. */
const policy = /content.security|\bCSP\b/i;

/** What to do about a .wasm file at `where` that cannot be had; `what` is wrong with it. */
export function wasmCure(where: string, what: string, inOneFile: boolean): string {
  if (policy.test(what) && what.includes('compile')) {
    return "allow 'wasm-unsafe-eval' in script-src of the content security policy (in an extension: content_security_policy.extension_pages in manifest.json)";
  }
  const vite = where.includes('/deps/') ? "add optimizeDeps: { exclude: ['clearformer'] } to Vite's settings, " : '';
  const served = `${vite}set wasmUrl to where the .wasm files of clearformer/dist are served, pass wasmBinary`;
  if (!inOneFile) return `${served}, copy them beside this script, or import from clearformer/inline`;
  return `${served}, or leave both out: this build has a copy`;
}

/** How long a worker may take to show whether it starts, in milliseconds. */
const patience = 400;

interface Trial {
  started: boolean;
  /** The directive of the page's policy that refuses it. */
  refusedBy?: string;
}

/** Whether a worker starts here from that address. */
function tryWorker(start: (url: string | URL) => Worker, script: string | URL): Promise<Trial> {
  return new Promise((resolve) => {
    const { document } = globalThis as { document?: Document };
    const settle = (trial: Trial) => {
      clearTimeout(timer);
      document?.removeEventListener('securitypolicyviolation', refuse);
      worker?.terminate();
      resolve(trial);
    };
    // A script of another host is imported by one that the page makes.
    const made = isMade(script) || new URL(script).origin !== location.origin;
    const refuse = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
      // Other trials of the same moment are refused by themselves.
      if (effectiveDirective === 'connect-src' || isMade(blockedURI) !== made) return;
      settle({ started: false, refusedBy: effectiveDirective });
    };
    const timer = setTimeout(() => settle({ started: false }), patience);
    document?.addEventListener('securitypolicyviolation', refuse);
    let worker: Worker | undefined;
    try {
      worker = start(script);
      worker.onmessage = () => settle({ started: true });
    } catch {
      settle({ started: false });
    }
  });
}

/** Of a page itself; events name such an address by its scheme alone. */
const isMade = (url: string | URL): boolean => String(url).startsWith('blob');

/** Whether workers may be started from scripts that a page has made, as clearformer/inline does. */
async function takesMadeScripts(start: (url: string | URL) => Worker): Promise<boolean> {
  const url = URL.createObjectURL(new Blob(['postMessage(1)'], { type: 'text/javascript' }));
  const { started } = await tryWorker(start, url);
  URL.revokeObjectURL(url);
  return started;
}

const same = 'or pass worker: false';

/** What to do about a worker whose script does not start; `why` is what the engine said. */
export async function workerCure(why: string, url: URL, { inOneFile, start }: Ways): Promise<string> {
  if (start === undefined) return `set workerUrl to clearformer/dist/worker.js, ${same}`;
  if (/TrustedScriptURL|trusted.?type/i.test(why)) {
    return `allow the policy clearformer in trusted-types of the content security policy, ${same}`;
  }
  const made = inOneFile ? Promise.resolve(false) : takesMadeScripts(start);
  // At the same time: whoever loads is to hear of it within a second.
  const [{ refusedBy }, problem, takesMade] = await Promise.all([tryWorker(start, url), problemOf(url), made]);
  if (refusedBy !== undefined) return refusedCure(url, refusedBy);
  const serve = "set workerUrl to where clearformer's dist/worker.js is served";
  const inline = takesMade ? ', import from clearformer/inline' : '';
  return `${problem}${serve}${inline}, ${same}`;
}

/** The page's content security policy refuses workers from that address. */
function refusedCure(url: URL, directive: string): string {
  const policy = `the page's content security policy (${directive})`;
  if (url.protocol === 'blob:' || url.origin !== location.origin) {
    return `${policy} refuses workers from ${url.protocol === 'blob:' ? 'blob:' : url.origin}: serve clearformer's dist/worker.js from this site and set workerUrl to it, ${same}`;
  }
  return `${policy} refuses workers from ${url.href}: allow it there (worker-src 'self'), ${same}`;
}

/** What is wrong with the script at that address, as far as asking for it tells. */
async function problemOf(url: URL): Promise<string> {
  if (url.protocol === 'blob:') return '';
  const answer = await fetch(url, { signal: AbortSignal.timeout(patience) }).catch(() => undefined);
  if (answer === undefined) return `${url.href} cannot be fetched: `;
  if (!answer.ok) return `${url.href} is not there (HTTP ${answer.status}): `;
  const type = answer.headers.get('content-type') ?? 'no type';
  if (!/javascript/.test(type)) return `${url.href} is ${type}, not JavaScript: `;
  if (globalThis.crossOriginIsolated && !answer.headers.has('cross-origin-embedder-policy')) {
    return `${url.href} must be sent with Cross-Origin-Embedder-Policy: require-corp on a page that is cross-origin isolated: `;
  }
  return '';
}
