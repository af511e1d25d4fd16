// Finds the remedy when the package's files cannot be loaded, by testing what works on this page. Loaded after a
// failure; it imports nothing, so that no other module becomes a separate chunk for it.

/** How the package starts its workers here. */
interface Ways {
  /** Whether the script needs no other files. */
  inOneFile: boolean;
  /** Absent in Node. */
  start?: ((url: string | URL) => Worker) | undefined;
}

/** Engines mention content security policies in their messages. */
const policy = /content.security|\bCSP\b/i;

/** The remedy for a .wasm file at `where` that cannot be loaded because of `what`; `script` is that of the package. */
export function wasmCure(where: string, what: string, inOneFile: boolean, script = import.meta.url): string {
  if (policy.test(what) && what.includes('compile')) {
    return "allow 'wasm-unsafe-eval' in script-src of the content security policy (in an extension: content_security_policy.extension_pages in manifest.json)";
  }
  if (what.includes('disallowed by embedder')) {
    return "this engine compiles no WebAssembly at run time (pages allow it by 'wasm-unsafe-eval' in script-src of their content security policy)";
  }
  if (where === 'the inline copy' && what.startsWith('is no')) {
    return 'the page reads the script in another encoding than UTF-8: add <meta charset="utf-8"> to it';
  }
  const vite = `${where} ${script}`.includes('/deps/')
    ? "add optimizeDeps: { exclude: ['clearformer'] } to Vite's settings, "
    : '';
  const served = `${vite}set wasmUrl to where the .wasm files of clearformer/dist are served, pass wasmBinary`;
  if (!inOneFile) return `${served}, copy them beside this script, or import from clearformer/inline`;
  return `${served}, or leave both out: this build has a copy`;
}

/** Milliseconds that a worker may take to show whether it starts. */
const patience = 400;

interface Trial {
  started: boolean;
  /** The directive of the page's policy that blocks it. */
  refusedBy?: string;
}

/** Tests whether a worker can be started from that URL. */
function tryWorker(start: (url: string | URL) => Worker, script: string | URL): Promise<Trial> {
  return new Promise((resolve) => {
    const { document } = globalThis as { document?: Document };
    const settle = (trial: Trial) => {
      clearTimeout(timer);
      document?.removeEventListener('securitypolicyviolation', refuse);
      worker?.terminate();
      resolve(trial);
    };
    // A script of another host is imported by a script from a blob URL.
    const made = isMade(script) || new URL(script).origin !== origin;
    const refuse = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
      // Other tests running at the same time report their own violations.
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

/** Whether the URL is a blob URL; events report only the scheme of those. */
const isMade = (url: string | URL): boolean => String(url).startsWith('blob');

/** Tests whether workers can be started from blob URLs, as clearformer/inline does. */
async function takesMadeScripts(start: (url: string | URL) => Worker): Promise<boolean> {
  const url = URL.createObjectURL(new Blob(['postMessage(1)'], { type: 'text/javascript' }));
  const { started } = await tryWorker(start, url);
  URL.revokeObjectURL(url);
  return started;
}

const same = 'or pass worker: false';

/** The remedy for a worker whose script does not start; `why` is the engine's message. */
export async function workerCure(why: string, url: URL, { inOneFile, start }: Ways): Promise<string> {
  if (/access.*restricted/i.test(why)) return `start Node with --allow-worker, ${same}`;
  if (/uv_cwd/.test(why)) return `start Node in a directory that exists, ${same}`;
  if (start === undefined) return `set workerUrl to clearformer/dist/worker.js, ${same}`;
  if (typeof Worker !== 'function') return 'workers of this kind start no others: pass worker: false';
  if (/TrustedScriptURL|trusted.?type/i.test(why)) {
    const twice = "for several copies of the package with 'allow-duplicates'";
    return `allow the policy clearformer in trusted-types of the content security policy (${twice}), ${same}`;
  }
  const made = inOneFile ? Promise.resolve(false) : takesMadeScripts(start);
  // In parallel: the error should be reported within a second.
  const [{ refusedBy }, problem, takesMade] = await Promise.all([tryWorker(start, url), problemOf(url), made]);
  if (refusedBy !== undefined) return refusedCure(url, refusedBy);
  const serve = "set workerUrl to where clearformer's dist/worker.js is served";
  const inline = takesMade ? ', import from clearformer/inline' : '';
  return `${problem}${serve}${inline}, ${same}`;
}

/** The page's content security policy blocks workers from that URL. */
function refusedCure(url: URL, directive: string): string {
  const policy = `the page's content security policy (${directive})`;
  if (origin === 'null')
    return `${policy} refuses workers from blob:, the only ones of an opaque origin: allow it, ${same}`;
  if (url.protocol === 'blob:' || url.origin !== origin) {
    return `${policy} refuses workers from ${url.protocol === 'blob:' ? 'blob:' : url.origin}: serve clearformer's dist/worker.js from this site and set workerUrl to it, ${same}`;
  }
  return `${policy} refuses workers from ${url.href}: allow it there (worker-src 'self'), ${same}`;
}

/** What is wrong with the script at that URL, as far as a request shows. */
async function problemOf(url: URL): Promise<string> {
  if (url.protocol === 'blob:') return '';
  if (url.pathname.endsWith('[object%20Object]')) return 'the bundler treats worker.js as a module, not as a file: ';
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
