import { Readiness } from '../../packages/runtime/index.ts';
import { endpointsOf } from '../../services/gateway/gateway.ts';
import type { Manifest, Values } from './manifest.ts';

interface Spec {
  readonly rules: readonly {
    readonly http: { readonly paths: readonly { readonly path: string; readonly pathType: string }[] };
  }[];
}

/** /metrics needs no authentication. */
const inside = new Set(['/metrics']);

/** Paths that the ingress wrongly exposes or blocks. */
export function ingressFaults(manifests: readonly Manifest[], { encryption }: Values): string[] {
  // With a separate store, the gateway serves objects only where they are encrypted.
  const behind = { objects: encryption === undefined ? null : {} } as unknown as Parameters<typeof endpointsOf>[1];
  const served = [...new Set(endpointsOf({}, behind, new Readiness([])).map(({ path }) => path))];
  const ingresses = manifests.filter(({ kind }) => kind === 'Ingress').map(({ spec }) => spec as unknown as Spec);
  return ingresses
    .flatMap(({ rules }) => rules)
    .flatMap(({ http: { paths } }) => {
      const exact = paths.filter(({ pathType }) => pathType === 'Exact').map(({ path }) => path);
      const open = paths.filter(({ pathType }) => pathType === 'Prefix').map(({ path }) => path.replace(/\/$/, ''));
      const isOpen = (path: string) =>
        exact.includes(path) || open.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
      return [
        ...served.filter((path) => isOpen(path) && inside.has(path)).map((path) => `The ingress exposes ${path}.`),
        ...served.filter((path) => !isOpen(path) && !inside.has(path)).map((path) => `The ingress blocks ${path}.`),
        ...[...exact, ...open]
          .filter((prefix) => !served.some((path) => path.startsWith(prefix)))
          .map((prefix) => `The ingress exposes ${prefix}, which the gateway does not serve.`),
      ];
    });
}
