import type { Manifest } from './chart.ts';

interface Peer {
  readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}
interface Rule {
  readonly ports?: readonly { readonly port: number }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}
interface Policy {
  readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

/** Who calls whom. Whatever is not here must be impossible. */
const calls = [
  'gateway → key-management',
  'gateway → ingest',
  'gateway → audio',
  'gateway → analysis',
  'ingest → key-management',
  'audio → ingest',
  'analysis → key-management',
];
const withDatabase = ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'migrations'];
const withStore = ['ingest', 'audio', 'transcription', 'analysis'];
const withKafka = [...withDatabase, 'gateway'];
/** By the default ports; a rule of more ports than one counts by its first. */
const parts: Readonly<Record<number, readonly string[]>> = {
  5432: withDatabase,
  9092: withKafka,
  9093: withKafka,
  9094: withKafka,
  443: withStore,
};

/** Where the policies open more, or less, than who calls whom asks for. */
export function networkFaults(
  manifests: readonly Manifest[],
  { speaksToServer }: { speaksToServer: boolean },
): string[] {
  const policies = manifests
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ spec }) => spec as unknown as Policy);
  const outward: string[] = [];
  const inward: string[] = [];
  const fromAnywhere: string[] = [];
  const beyond = new Map<number, Set<string>>();
  let deniesAll = false;
  for (const policy of policies) {
    const name = component(policy.podSelector);
    if (name === undefined) deniesAll = policy.ingress === undefined && policy.egress === undefined;
    for (const { ports = [], from } of policy.ingress ?? []) {
      if (from === undefined || from.some(({ podSelector }) => podSelector === undefined))
        fromAnywhere.push(`${name}:${ports.map(({ port }) => port).join()}`);
      inward.push(...namesOf(from).map((caller) => `${caller} → ${name}`));
    }
    for (const { ports = [], to } of policy.egress ?? []) {
      outward.push(...namesOf(to).map((called) => `${name} → ${called}`));
      if (namesOf(to).length > 0) continue;
      const [{ port } = { port: 0 }] = ports;
      beyond.set(port, (beyond.get(port) ?? new Set()).add(name ?? 'everybody'));
    }
  }
  const isTest = (edge: string) => edge.startsWith('test → ');
  const faults = [
    ...differences(
      'A caller may reach',
      outward.filter((edge) => !isTest(edge)),
      calls,
    ),
    ...differences(
      'A service lets in',
      inward.filter((edge) => !isTest(edge)),
      calls,
    ),
    ...differences(
      'From elsewhere one may reach',
      fromAnywhere.filter((place) => !place.endsWith(':9090')),
      ['gateway:8080'],
    ),
  ];
  if (!deniesAll) faults.push('No policy denies what is not allowed.');
  for (const [port, names] of beyond) {
    const expected = [...(parts[port] ?? [])];
    // A recogniser elsewhere is reached by the port of the store.
    if (port === 443 && speaksToServer && !expected.includes('transcription')) expected.push('transcription');
    if (port in parts) faults.push(...differences(`At port ${port}`, [...names], expected));
  }
  return faults;
}

function component(selector: { readonly matchLabels?: Readonly<Record<string, string>> }): string | undefined {
  return selector.matchLabels?.['app.kubernetes.io/component'];
}

function namesOf(peers: readonly Peer[] | undefined): string[] {
  return (peers ?? []).flatMap(({ podSelector }) =>
    podSelector === undefined ? [] : [component(podSelector) ?? 'everybody'],
  );
}

function differences(where: string, found: readonly string[], expected: readonly string[]): string[] {
  const [has, should] = [new Set(found), new Set(expected)];
  return [
    ...[...has].filter((each) => !should.has(each)).map((each) => `${where}: ${each} is open and should not be.`),
    ...[...should].filter((each) => !has.has(each)).map((each) => `${where}: ${each} is shut and should not be.`),
  ];
}
