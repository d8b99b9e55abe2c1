import { gauge } from '../telemetry/metrics.ts';
import type { Readiness } from './readiness.ts';

const states = gauge('part_available', '1 while a part that a service needs answers, 0 while it does not.', [
  'service',
  'part',
]);

/** Exports whether each part of the service answers until the returned function is called. */
export function exportParts(service: string, readiness: Readiness): () => void {
  return states.from(async () =>
    (await readiness.states()).map(({ part, hasAnswered }) => ({
      labels: [service, part.name],
      value: hasAnswered ? 1 : 0,
    })),
  );
}
