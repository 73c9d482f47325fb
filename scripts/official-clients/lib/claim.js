// A claim is a test of a stand-in by an official client that also says which lies
// of the stand-in it sees through. It is run once against the honest stand-in and
// must hold; then once against each lie, and must fail for the reason given. A
// client that is content with a lie proves nothing about the truth.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Broken, Fake } from './fake.js';

// How long an awaited thing may take, in milliseconds. Where a lie is noticed by
// what does not come, all of it is waited for.
const patience = 20_000;
const patienceWithSilence = 4_000;

// Claims mostly wait, so many run side by side.
const concurrency = 12;

const claims = [];

/**
 * States a claim. `flags` are for the command line of the stand-in, `lies` has for
 * each lie what the failure must say, and `run` gets a running Fake.
 */
export function claim(title, { flags = [], lies = {} }, run) {
  claims.push({ title, flags, lies, run });
}

/** Holds the stand-in of a platform to all claims, and the claims to all its lies. */
export function prove(platform) {
  describe(platform, { concurrency }, () => {
    for (const { title, flags, lies, run } of claims) {
      test(title, () => against(platform, flags, patience, run));
      for (const [lie, reason] of Object.entries(lies)) {
        const wait = reason.source.includes('did not come') ? patienceWithSilence : patience;
        test(`${title} [sees through ${lie}]`, () =>
          assert.rejects(against(platform, [...flags, '-lie', lie], wait, run), error => {
            if (error instanceof Broken) throw error;
            assert.match(error.message, reason);
            return true;
          }));
      }
    }
    test('each lie is seen through by somebody', () =>
      against(platform, [], patience, ({ lies }) => {
        const seenThrough = new Set(claims.flatMap(c => Object.keys(c.lies)));
        assert.deepEqual([...seenThrough].sort(), lies);
      }));
  });
}

async function against(platform, flags, wait, run) {
  const fake = await Fake.start(platform, flags, wait);
  try {
    await run(fake);
  } finally {
    await fake.stop();
  }
}
