import { readFileSync } from 'node:fs';
import type { Manifest } from './manifest.ts';

interface Spec {
  readonly fallback?: object;
  readonly triggers: readonly { readonly metricType?: string; readonly metadata: Readonly<Record<string, string>> }[];
}

/** Finds values that KEDA would refuse or misinterpret. */
export function scalingFaults(manifests: readonly Manifest[]): string[] {
  return manifests
    .filter(({ kind }) => kind === 'ScaledObject')
    .flatMap(({ metadata: { name }, spec }) => {
      const { fallback, triggers } = spec as unknown as Spec;
      const demands: readonly (readonly [holds: boolean, what: string])[] = [
        [fallback === undefined, 'has a number of pods for when Prometheus is away, instead of what there are'],
        // `Value` multiplies the present number of pods repeatedly.
        [triggers.every((each) => each.metricType === 'AverageValue'), 'scales by something else than AverageValue'],
        [triggers.every((each) => each.metadata['ignoreNullValues'] === 'false'), 'takes no figure for a wait of 0 s'],
      ];
      return demands.filter(([holds]) => !holds).map(([, what]) => `ScaledObject ${name} ${what}.`);
    });
}

/** KEDA queries the queues of the consumers that have their service's name. */
export function consumerFaults(): string[] {
  return ['transcription', 'analysis'].flatMap((service) => {
    const isNamed = readFileSync(`services/${service}/consumers.ts`, 'utf8').includes(`consumer: '${service}',`);
    return isNamed ? [] : [`No consumer of ${service} is called ${service}, whose queue KEDA watches.`];
  });
}
