import { Readiness } from '../../packages/runtime/index.ts';
import { endpointsOf } from '../../services/gateway/gateway.ts';
import { services } from './environment.ts';
import { componentOf, type Manifest, type Values } from './manifest.ts';
import { containersOf, environmentOf, processesOf } from './pods.ts';

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

/** The permitted calls between services. All others must be impossible. */
const calls = [
  'gateway → key-management',
  'gateway → ingest',
  'gateway → audio',
  'gateway → analysis',
  'gateway → webhooks',
  'ingest → key-management',
  'ingest → analysis',
  'audio → ingest',
  'analysis → key-management',
];

/** The pod of the admin command, where there is one. */
const ofAdmin = ['admin → key-management', 'admin → ingest'];

/** The servers of models, where the chart runs them, and who asks them. */
const ofModels: Readonly<Record<string, string>> = { ollama: 'analysis', speech: 'transcription' };

const withDatabase = ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks', 'migrations'];

/** Parts outside the chart: the services that reach them, and the variables with their addresses. A database URL is in a Secret, which has a usual port. */
const parts: Readonly<
  Record<string, { readonly by: readonly string[]; readonly variables?: readonly string[]; readonly port?: number }>
> = {
  database: { by: withDatabase, port: 5432 },
  kafka: { by: [...withDatabase, 'gateway', 'admin', 'kafka-readers'], variables: ['KAFKA_BROKERS'] },
  s3: { by: ['ingest', 'audio', 'transcription', 'analysis', 'gateway', 'admin'], variables: ['S3_ENDPOINT'] },
  // Addresses of firms.
  webhooks: { by: ['webhooks'], port: 443 },
  speech: { by: ['transcription'], variables: ['SPEECH_URL'] },
  languageModel: { by: ['analysis'], variables: ['LLM_URL'] },
  identityProvider: { by: ['gateway'], variables: ['JWT_JWKS_URL', 'OIDC_ISSUER'] },
  otlp: { by: services, variables: ['OTEL_EXPORTER_OTLP_ENDPOINT'] },
};
const DNS = 53;

/** Connections that the policies wrongly allow or deny. */
export function networkFaults(manifests: readonly Manifest[], values: Values): string[] {
  const outward: string[] = [];
  const inward: string[] = [];
  const fromAnywhere: string[] = [];
  const beyond = new Map<string, number[]>();
  let deniesAll = false;
  for (const { kind, spec } of manifests) {
    if (kind !== 'NetworkPolicy') continue;
    const { podSelector, ingress, egress } = spec as unknown as Policy;
    const name = component(podSelector);
    if (name === undefined) deniesAll = ingress === undefined && egress === undefined;
    for (const { ports = [], from } of ingress ?? []) {
      if (from === undefined || from.some((peer) => peer.podSelector === undefined))
        fromAnywhere.push(`${name}:${ports.map(({ port }) => port).join()}`);
      inward.push(...namesOf(from).map((caller) => `${caller} → ${name}`));
    }
    for (const { ports = [], to } of egress ?? []) {
      outward.push(...namesOf(to).map((called) => `${name} → ${called}`));
      if (namesOf(to).length > 0) continue;
      const reached = ports.length === 0 ? [Number.NaN] : ports.map(({ port }) => port);
      beyond.set(name ?? 'everybody', [...(beyond.get(name ?? 'everybody') ?? []), ...reached]);
    }
  }
  const components = new Set(manifests.map((each) => `${each.kind} ${componentOf(each)}`));
  const permitted = [
    ...calls,
    ...(components.has('Deployment admin') ? ofAdmin : []),
    ...Object.entries(ofModels)
      .filter(([server]) => components.has(`StatefulSet ${server}`))
      .map(([server, caller]) => `${caller} → ${server}`),
  ];
  const withoutTest = (edges: readonly string[]) => edges.filter((edge) => !edge.startsWith('test → '));
  const places = fromAnywhere.filter((place) => !place.endsWith(':9090'));
  const wanted = new Map([...needs(manifests, values), ['test', [DNS]]]);
  const names = new Set([...wanted.keys(), ...beyond.keys()]);
  return [
    ...differences('A caller may reach', withoutTest(outward), permitted),
    ...differences('A service lets in', withoutTest(inward), permitted),
    ...differences('From elsewhere one may reach', places, ['gateway:8080']),
    ...(deniesAll ? [] : ['No policy denies what is not allowed.']),
    ...[...names].flatMap((name) =>
      differences(`Of ports elsewhere, for ${name}`, beyond.get(name) ?? [], wanted.get(name) ?? []),
    ),
  ];
}

/** The ports of the addresses in the environments of each service, of the admin command and of the jobs. */
function needs(manifests: readonly Manifest[], values: Values): Map<string, number[]> {
  const needed = new Map<string, number[]>();
  const inside = new Set(manifests.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name));
  for (const manifest of manifests) {
    const name = componentOf(manifest);
    if (manifest.kind === 'StatefulSet')
      needed.set(name!, [DNS, ...(values.networkPolicy?.['models']?.ports ?? [443])]);
    const isOther = name === 'admin' || name === 'kafka-readers';
    const containers = isOther ? containersOf(manifest) : processesOf(manifest);
    const environments = containers.map(environmentOf);
    if (name === undefined || environments.length === 0) continue;
    const ports = [DNS];
    for (const [part, { by, variables, port }] of Object.entries(parts)) {
      const named = environments.flatMap((each) => variables?.map((variable) => each[variable] ?? '') ?? []);
      const addresses = named
        .flatMap((text) => text.split(','))
        .filter((address) => address !== '' && !inside.has(urlOf(address).hostname));
      if (!by.includes(name) || (variables !== undefined && addresses.length === 0)) continue;
      const configured = values.networkPolicy?.[part]?.ports ?? [];
      if (configured.length > 0) ports.push(...configured);
      else ports.push(...(port === undefined ? addresses.map(portOf) : [port]));
    }
    needed.set(name, ports);
  }
  return needed;
}

function urlOf(address: string): URL {
  return new URL(address.includes('://') ? address : `tcp://${address}`);
}

/** The port of a URL or of host:port. */
function portOf(address: string): number {
  const { port, protocol } = urlOf(address);
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
}

function component(selector: { readonly matchLabels?: Readonly<Record<string, string>> }): string | undefined {
  return selector.matchLabels?.['app.kubernetes.io/component'];
}

function namesOf(peers: readonly Peer[] | undefined): string[] {
  return (peers ?? []).flatMap(({ podSelector }) =>
    podSelector === undefined ? [] : [component(podSelector) ?? 'everybody'],
  );
}

function differences<Each>(where: string, found: readonly Each[], expected: readonly Each[]): string[] {
  const [has, should] = [new Set(found), new Set(expected)];
  return [
    ...[...has].filter((each) => !should.has(each)).map((each) => `${where}: ${each} is allowed and should not be.`),
    ...[...should].filter((each) => !has.has(each)).map((each) => `${where}: ${each} is denied and should not be.`),
  ];
}

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
