// expect.ts: the few calls of `expect` that the ledger's document uses.

import * as assert from 'node:assert/strict';

export function expect(value: unknown) {
  return {
    toBe: (wanted: unknown): void => assert.equal(value, wanted),
    toBeDefined: (): void => assert.notEqual(value, undefined),
    rejects: { toThrow: (): Promise<void> => assert.rejects(value as Promise<unknown>) },
  };
}
