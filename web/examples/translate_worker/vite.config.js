// The worker must be a module, too, since it imports parts of the package on demand.

export default { worker: { format: 'es' } };
