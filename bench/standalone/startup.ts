import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atMost, type Figure, median } from '../harness/figure.ts';
import { residentMiB } from '../harness/processes.ts';

/** The time from the start of the process to its `ready` line, on an existing data directory; and its memory when idle. */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const first = await startService();
  await first.stop({ keep: true });
  const readySeconds: number[] = [];
  const resident: number[] = [];
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    const service = await startService(first.directory);
    readySeconds.push(service.readyMs / 1000);
    await pause(quick ? 1_000 : 5_000);
    resident.push(residentMiB(service.pid));
    await service.stop({ keep: true });
  }
  await rm(first.directory, { recursive: true });
  return [
    atMost(1, {
      name: 'second start until ready',
      value: median(readySeconds),
      unit: 's',
      yardstick: { name: 'limit, s', value: 3 },
    }),
    atMost(1, {
      name: 'memory when idle, PostgreSQL apart',
      value: median(resident),
      unit: 'MiB',
      yardstick: { name: 'limit, MiB', value: 250 },
    }),
  ];
}
