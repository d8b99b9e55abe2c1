import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { consumers } from './consumers.ts';
import { failures } from './failures.ts';
import { type Leases, tryLeases } from './leases.ts';
import { listeners } from './listeners.ts';
import { processes } from './processes.ts';
import { publishing } from './publishing.ts';
import { removing } from './removing.ts';
import { type BusPlace, stageAt } from './fixture.ts';

export type { BusPlace } from './fixture.ts';

/** The promises of the port; every transport keeps all of them. */
export function busContract(name: string, open: () => Promise<BusPlace>): void {
  describe(`bus: ${name}`, () => {
    const stage = stageAt(open);
    let leases: Leases;

    beforeAll(async () => {
      await stage.open();
      leases = tryLeases(stage);
    }, 300_000);
    afterEach(() => stage.endTest());
    afterAll(() => stage.close(), 120_000);

    publishing(stage);
    removing(stage);
    consumers(stage);
    failures(stage);
    processes(stage, () => leases);
    listeners(stage);
  });
}
