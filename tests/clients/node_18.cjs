/** Loaded before the cases of areas.ts: removes globals that Node.js 18.0 does not have. */
delete URLSearchParams.prototype.size;
delete globalThis.crypto;
