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
