// The worker is a module, too: it loads what the package loads on demand.

export default { worker: { format: 'es' } };
