/** A manifest that the chart renders. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Variables {
  readonly extraEnv?: readonly { readonly name: string; readonly value: string }[];
}

/** The values that the checks read. */
export interface Values {
  readonly bindAddress?: string;
  readonly trustedCertificates?: object;
  readonly encryption?: object;
  readonly extraVolumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly networkPolicy?: Readonly<Record<string, { readonly ports?: readonly number[] } | undefined>>;
  readonly admin?: Variables;
  readonly services?: Readonly<Record<string, Variables | undefined>>;
}

/** The service, or `migrations` or `test`, that a manifest belongs to. */
export function componentOf(manifest: Manifest): string | undefined {
  return manifest.metadata.labels?.['app.kubernetes.io/component'];
}

/** What the API server takes as the value of a label: at most 63 characters, a letter or digit first and last. */
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** The longest tag of an image, with an end that a label must not have where it is cut. */
export const LONGEST_TAG = `${'1.2.3-build.'.repeat(11).slice(0, 127)}_`;

/** The labels of a manifest, and of the pods that it makes, that the API server would refuse. */
export function labelFaults({ kind, metadata, spec }: Manifest): string[] {
  const { template } = (spec ?? {}) as { template?: { metadata?: Manifest['metadata'] } };
  return [metadata, template?.metadata].flatMap((each) =>
    Object.entries(each?.labels ?? {})
      .filter(([, value]) => !VALUE.test(value))
      .map(([name, value]) => `${kind} ${metadata.name}: the label ${name} cannot be "${value}".`),
  );
}

/** A condition, and what is wrong with a thing that does not meet it. */
export type Demand = readonly [holds: boolean, otherwise: string];

export function unmet(name: string, demands: readonly Demand[]): string[] {
  return demands.filter(([holds]) => !holds).map(([, otherwise]) => `${name} ${otherwise}.`);
}
