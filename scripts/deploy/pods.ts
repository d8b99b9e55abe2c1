import { readFileSync } from 'node:fs';
import { SHUTDOWN_MARGIN_MS, parseDuration } from '../../packages/runtime/index.ts';
import { environmentFaults, services } from './environment.ts';
import { componentOf, type Demand, type Manifest, unmet, type Values } from './manifest.ts';

interface Pod {
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly seccompProfile?: { readonly type: string } };
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext?: {
    readonly readOnlyRootFilesystem?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[] };
  };
  readonly resources?: { readonly requests?: object; readonly limits?: object };
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Items {
  readonly name: string;
  readonly items: readonly { readonly path: string }[];
}

interface Volume {
  readonly name: string;
  readonly projected?: { readonly sources: readonly { readonly secret?: Items; readonly configMap?: Items }[] };
}

/** Where stored data is encrypted, these read or write it. */
const encrypting = new Set(['gateway', 'ingest', 'audio', 'transcription', 'analysis', 'admin']);

/** All containers of a manifest. */
export function containersOf(manifest: Manifest): readonly Container[] {
  return podOf(manifest)?.containers ?? [];
}

/** The containers of services in a manifest: one in a Deployment, one for each service in the job of migrations. */
export function processesOf(manifest: Manifest): readonly Container[] {
  return containersOf(manifest).filter(({ args: [service = ''] = [] }) => services.includes(service));
}

/** The variables of the process. Values from Secrets are placeholders. */
export function environmentOf({ env = [] }: Container): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'from-a-secret']));
}

/** The faults of the pods of a manifest, if it has any. */
export async function podFaults(manifest: Manifest, values: Values): Promise<string[]> {
  const pod = podOf(manifest);
  if (pod === undefined) return [];
  const { name } = manifest.metadata;
  const faults = [...confinementFaults(name, pod), ...secretFaults(name, pod)];
  for (const process of processesOf(manifest)) {
    faults.push(...settingFaults(name, pod, process, values));
    faults.push(...(await environmentFaults(process.args?.[0] ?? '', environmentOf(process))));
  }
  const component = componentOf(manifest) ?? '';
  if (manifest.kind === 'Deployment') {
    for (const container of pod.containers) faults.push(...ownFaults(component, environmentOf(container), values));
  }
  // The pod of the admin command serves nothing and has no work that could be interrupted.
  if (manifest.kind === 'Deployment' && component !== 'admin')
    faults.push(...graceFaults(name, pod), ...probeFaults(component, pod));
  return faults;
}

function podOf(manifest: Manifest): Pod | undefined {
  if (manifest.kind === 'Pod') return manifest.spec as unknown as Pod;
  const { template } = manifest.spec ?? {};
  return (template as { spec: Pod } | undefined)?.spec;
}

function confinementFaults(name: string, pod: Pod): string[] {
  const ofContainers = pod.containers.flatMap(({ securityContext, resources }): Demand[] => [
    [securityContext?.readOnlyRootFilesystem === true, 'can write to its root'],
    [securityContext?.allowPrivilegeEscalation === false, 'may gain privileges'],
    [securityContext?.capabilities?.drop?.join() === 'ALL', 'keeps capabilities'],
    [resources?.requests !== undefined && resources.limits !== undefined, 'says nothing of its resources'],
  ]);
  return unmet(name, [
    [pod.automountServiceAccountToken === false, 'gets a token of its service account'],
    [pod.securityContext?.runAsNonRoot === true, 'may run as root'],
    [pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile'],
    ...ofContainers,
  ]);
}

function secretFaults(name: string, pod: Pod): string[] {
  return pod.containers.flatMap((container) =>
    (container.env ?? []).flatMap(({ name: variable, value, valueFrom }) => {
      if (variable.endsWith('_FILE') || variable === 'NODE_EXTRA_CA_CERTS')
        return isMounted(pod, container, value ?? '')
          ? []
          : [`${name} has nothing at ${value}, which is in ${variable}.`];
      const isSecret = /PASSWORD|SECRET|PEPPER|API_KEY|ACCESS_KEY|DATABASE_URL|HEADERS/.test(variable);
      return isSecret && (value !== undefined || valueFrom === undefined) ? [`${name} holds ${variable} itself.`] : [];
    }),
  );
}

function isMounted(pod: Pod, container: Container, path: string): boolean {
  return (container.volumeMounts ?? []).some(({ name, mountPath }) => {
    const sources = pod.volumes?.find((volume) => volume.name === name)?.projected?.sources ?? [];
    const items = sources.flatMap(({ secret, configMap }) => (secret ?? configMap)?.items ?? []);
    return items.some((item) => `${mountPath}/${item.path}` === path);
  });
}

/** Values for some processes that did not reach these. */
function ownFaults(component: string, environment: Readonly<Record<string, string>>, values: Values): string[] {
  const { extraEnv = [] } = (component === 'admin' && values.admin) || {};
  const faults = extraEnv
    .filter(({ name, value }) => environment[name] !== value)
    .map(({ name }) => `${component} does not get ${name} as extraEnv has it.`);
  if (values.encryption === undefined || !encrypting.has(component)) return faults;
  const missing = ['ENCRYPTION_KEY_FILE', 'S3_ENDPOINT'].filter((name) => environment[name] === undefined);
  return [...faults, ...missing.map((name) => `${component} cannot read encrypted objects without ${name}.`)];
}

/** Values that did not reach every process. */
function settingFaults(name: string, pod: Pod, container: Container, values: Values): string[] {
  const who = `${name}, ${container.name},`;
  const faults: string[] = [];
  const environment = environmentOf(container);
  const names = (container.env ?? []).map((each) => each.name);
  for (const twice of names.filter((each, at) => names.indexOf(each) !== at)) faults.push(`${who} has ${twice} twice.`);
  for (const { name: variable, value } of values.services?.[container.args?.[0] ?? '']?.extraEnv ?? []) {
    if (environment[variable] !== value) faults.push(`${who} does not get ${variable} as extraEnv has it.`);
  }
  const { bindAddress = '0.0.0.0' } = values;
  for (const variable of ['HOST', 'HEALTH_HOST', 'RPC_HOST']) {
    if ((environment[variable] ?? bindAddress) !== bindAddress)
      faults.push(`${who} listens on ${environment[variable]} by ${variable}, not on ${bindAddress}.`);
  }
  const needed = ['HEALTH_HOST', ...(environment['DATABASE_URL_FILE'] === undefined ? [] : ['DATABASE_CONNECTIONS'])];
  for (const variable of needed)
    if (environment[variable] === undefined) faults.push(`${who} does not have ${variable}.`);
  if (values.trustedCertificates !== undefined && environment['NODE_EXTRA_CA_CERTS'] === undefined)
    faults.push(`${who} does not know the trusted certificates.`);
  for (const { name: volume, mountPath } of values.extraVolumeMounts ?? []) {
    const isThere = pod.volumes?.some((each) => each.name === volume) === true;
    const isMountedThere = container.volumeMounts?.some((each) => each.mountPath === mountPath) === true;
    if (!isThere || !isMountedThere) faults.push(`${who} has no volume ${volume} at ${mountPath}.`);
  }
  return faults;
}

/** A pod that is killed before it has closed interrupts its work. */
function graceFaults(name: string, { containers, terminationGracePeriodSeconds: grace = 30 }: Pod): string[] {
  return containers.flatMap((container) => {
    const { DRAIN = '', CLOSE_TIMEOUT = '' } = environmentOf(container);
    const takesMs =
      (parseDuration(DRAIN) ?? Number.NaN) + (parseDuration(CLOSE_TIMEOUT) ?? Number.NaN) + SHUTDOWN_MARGIN_MS;
    const least = Math.ceil(takesMs / 1000);
    return grace > least && grace <= least + 5
      ? []
      : [`${name} has ${grace} s to stop; DRAIN ${DRAIN} and CLOSE_TIMEOUT ${CLOSE_TIMEOUT} take ${least} s.`];
  });
}

/**
 * The gateway's pods stay reachable while a backend is down; otherwise the complete API would be down too. But a pod gets no
 * requests before it has reached all backends once.
 */
function probeFaults(service: string, { containers }: Pod): string[] {
  const served = readFileSync('packages/runtime/health/health-server.ts', 'utf8');
  const [startup, readiness] = service === 'gateway' ? ['/readyz', '/serving'] : ['/healthz', '/readyz'];
  return containers.flatMap(({ startupProbe, readinessProbe, livenessProbe }) => {
    const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet.path ?? 'nothing');
    const wanted = [startup, readiness, '/healthz'];
    const isAsWanted = paths.join() === wanted.join();
    return [
      ...(isAsWanted ? [] : [`${service} is asked for ${paths.join()}, not for ${wanted.join()}.`]),
      ...paths
        .filter((path) => !served.includes(`case '${path}'`))
        .map((path) => `${service} is asked for ${path}, which no process serves.`),
    ];
  });
}
