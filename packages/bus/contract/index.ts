import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { consumers } from './consumers.ts';
import { failures } from './failures.ts';
import { createFixture, type TransportUnderTest } from './fixture.ts';
import { type LeaseResults, startLeaseTests } from './leases.ts';
import { listeners } from './listeners.ts';
import { processes } from './processes.ts';
import { publishing } from './publishing.ts';
import { removing } from './removing.ts';

export type { TransportUnderTest } from './fixture.ts';

/** Tests the promises of the port. Every transport keeps all of them. */
export function busContract(name: string, open: () => Promise<TransportUnderTest>): void {
  describe(`bus: ${name}`, () => {
    const fixture = createFixture(open);
    let leases: LeaseResults;

    beforeAll(async () => {
      await fixture.open();
      leases = startLeaseTests(fixture);
    }, 300_000);
    afterEach(() => fixture.endTest());
    afterAll(() => fixture.close(), 120_000);

    publishing(fixture);
    removing(fixture);
    consumers(fixture);
    failures(fixture);
    processes(fixture, () => leases);
    listeners(fixture);
  });
}
