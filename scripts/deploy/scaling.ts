import { globSync, readFileSync } from 'node:fs';
import type { Manifest } from './manifest.ts';

interface Spec {
  readonly fallback?: object;
  readonly triggers: readonly { readonly metricType?: string; readonly metadata: Readonly<Record<string, string>> }[];
}

/** What KEDA would refuse, or take for something else than what is meant. */
export function scalingFaults(manifests: readonly Manifest[]): string[] {
  return manifests
    .filter(({ kind }) => kind === 'ScaledObject')
    .flatMap(({ metadata: { name }, spec }) => {
      const { fallback, triggers } = spec as unknown as Spec;
      const demands: readonly (readonly [holds: boolean, what: string])[] = [
        [fallback === undefined, 'has a number of pods for when Prometheus is away, instead of what there are'],
        // `Value` multiplies the pods that there are again and again.
        [triggers.every((each) => each.metricType === 'AverageValue'), 'scales by something else than AverageValue'],
        [triggers.every((each) => each.metadata['ignoreNullValues'] === 'false'), 'takes no figure for a wait of 0 s'],
      ];
      return demands.filter(([holds]) => !holds).map(([, what]) => `ScaledObject ${name} ${what}.`);
    });
}

/** KEDA asks for the queues of consumers that bear their service's name. */
export function consumerFaults(): string[] {
  return ['transcription', 'analysis'].flatMap((service) => {
    const names = globSync(`services/${service}/*.ts`).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/CONSUMER = '([\w.-]+)'/g)].map(([, name]) => name),
    );
    return names.includes(service)
      ? []
      : [`No consumer of ${service} is called ${service}, whose queue KEDA is told to watch.`];
  });
}
