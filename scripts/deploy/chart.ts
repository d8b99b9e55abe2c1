import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { environmentFaults, services } from './environment.ts';
import { networkFaults } from './network.ts';
import { helm, kubeconform, kubernetesSchemas, npmTools } from './tools.ts';

const chart = 'deploy/helm/call-analysis';
/** The oldest version that Chart.yaml allows, and the newest whose schemas there are. */
const versions = ['v1.27.0', 'v1.37.0'];

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Pod {
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly seccompProfile?: { readonly type: string } };
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
}

interface Volume {
  readonly name: string;
  readonly projected?: {
    readonly sources: readonly {
      readonly secret: { readonly name: string; readonly items: readonly { readonly path: string }[] };
    }[];
  };
}

/** What is wrong with the chart, rendered with each file of values in ci/ and with values that must be refused. */
export async function chartFaults(): Promise<string[]> {
  const program = await helm();
  const { yaml, models } = await npmTools();
  const faults = versionFaults();
  for (const file of globSync(`${chart}/ci/*.yaml`).toSorted()) {
    const name = basename(file, '.yaml');
    const lint = call(program, [
      'lint',
      '--strict',
      '--quiet',
      '--kube-version',
      versions[0]!,
      chart,
      '--values',
      file,
    ]);
    if (lint.status !== 0) faults.push(`${name}: ${lint.output}`);
    const rendered = render(program, ['--values', file]);
    if (rendered.status !== 0) {
      faults.push(`${name}: ${rendered.output}`);
      continue;
    }
    for (const version of versions) faults.push(...(await schemaFaults(name, rendered.output, version)));
    const documents = yaml.parseAllDocuments(rendered.output, { version: '1.1' });
    const manifests = documents
      .map((document) => document.toJS() as Manifest | null)
      .filter((manifest) => manifest !== null);
    for (const manifest of manifests) {
      const Model = models[manifest.kind];
      if (Model !== undefined)
        faults.push(
          ...said(`${name}: ${manifest.kind} ${manifest.metadata.name}`, () => new Model(manifest).validate()),
        );
      if (manifest.kind === 'Secret') faults.push(`${name}: a Secret stands in the chart itself.`);
      for (const label of ['name', 'instance', 'version', 'part-of', 'managed-by']) {
        if (manifest.metadata.labels?.[`app.kubernetes.io/${label}`] === undefined)
          faults.push(`${name}: ${manifest.kind} ${manifest.metadata.name} has no label ${label}.`);
      }
      const pod = podOf(manifest);
      if (pod !== undefined)
        faults.push(...podFaults(`${name}: ${manifest.metadata.name}`, pod), ...(await processFaults(name, pod)));
    }
    for (const service of services) {
      if (
        !manifests.some(
          ({ kind, metadata }) => kind === 'Deployment' && metadata.labels?.['app.kubernetes.io/component'] === service,
        )
      ) {
        faults.push(`${name}: there is no Deployment of ${service}.`);
      }
    }
    faults.push(
      ...networkFaults(manifests, { speaksToServer: /^ {2}url: /m.test(readFileSync(file, 'utf8')) }).map(
        (fault) => `${name}: ${fault}`,
      ),
    );
  }
  return [...faults, ...refusalFaults(program), ...consumerFaults()];
}

function versionFaults(): string[] {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  return readFileSync(`${chart}/Chart.yaml`, 'utf8').includes(`\nappVersion: ${version}\n`)
    ? []
    : [`appVersion of the chart is not ${version}.`];
}

/** KEDA asks for the queues of consumers that bear their service's name. */
function consumerFaults(): string[] {
  return ['transcription', 'analysis'].flatMap((service) => {
    const names = globSync(`services/${service}/*.ts`).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/CONSUMER = '([\w.-]+)'/g)].map(([, name]) => name),
    );
    return names.includes(service)
      ? []
      : [`No consumer of ${service} is called ${service}, whose queue KEDA is told to watch.`];
  });
}

async function schemaFaults(name: string, rendered: string, version: string): Promise<string[]> {
  const location = `${await kubernetesSchemas(version)}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  // These two kinds have models of their own.
  const args = ['-strict', '-summary', '-skip', 'ScaledObject,ServiceMonitor', '-schema-location', location];
  const { status, output } = call(await kubeconform(), args, rendered);
  const checked = Number(/Valid: (\d+)/.exec(output)?.[1] ?? 0);
  return status === 0 && checked > 20 ? [] : [`${name}, Kubernetes ${version}: ${output}`];
}

function podOf(manifest: Manifest): Pod | undefined {
  if (manifest.kind === 'Pod') return manifest.spec as unknown as Pod;
  const { template } = manifest.spec ?? {};
  return (template as { spec: Pod } | undefined)?.spec;
}

function podFaults(name: string, pod: Pod): string[] {
  const faults: string[] = [];
  const demand = (holds: boolean, what: string) => {
    if (!holds) faults.push(`${name} ${what}.`);
  };
  demand(pod.automountServiceAccountToken === false, 'gets a token of its service account');
  demand(pod.securityContext?.runAsNonRoot === true, 'may run as root');
  demand(pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile');
  for (const container of pod.containers) {
    const { securityContext, resources } = container;
    demand(securityContext?.readOnlyRootFilesystem === true, 'can write to its root');
    demand(securityContext?.allowPrivilegeEscalation === false, 'may gain privileges');
    demand(securityContext?.capabilities?.drop?.join() === 'ALL', 'keeps capabilities');
    demand(resources?.requests !== undefined && resources.limits !== undefined, 'says nothing of its resources');
    for (const { name: variable, value, valueFrom } of container.env ?? []) {
      if (variable.endsWith('_FILE'))
        demand(isMounted(pod, container, value ?? ''), `names ${value} in ${variable}, where no secret lies`);
      else if (/PASSWORD|SECRET|PEPPER|API_KEY|ACCESS_KEY|DATABASE_URL|HEADERS/.test(variable))
        demand(value === undefined && valueFrom !== undefined, `holds ${variable} itself`);
    }
  }
  return faults;
}

function isMounted(pod: Pod, container: Container, path: string): boolean {
  return (container.volumeMounts ?? []).some(({ name, mountPath }) => {
    const sources = pod.volumes?.find((volume) => volume.name === name)?.projected?.sources ?? [];
    return sources.some(({ secret }) => secret.items.some((item) => `${mountPath}/${item.path}` === path));
  });
}

async function processFaults(name: string, pod: Pod): Promise<string[]> {
  const faults: string[] = [];
  for (const { args: [service = ''] = [], env = [] } of pod.containers) {
    if (!services.includes(service)) continue;
    const environment = Object.fromEntries(env.map((each) => [each.name, each.value ?? 'from-a-secret']));
    faults.push(...(await environmentFaults(service, environment)).map((fault) => `${name}: ${fault}`));
  }
  return faults;
}

/** Values that must be refused, beside those of minimal.yaml, and what is said then. */
const refusals: readonly (readonly [set: string, says: RegExp])[] = [
  ['database.existingSecret=', /services\.ingest\.database\.existingSecret must name the secret/],
  ['kafka.brokers=null', /kafka\.brokers must name at least one broker/],
  ['kafka.brokers={kafka}', /kafka\/brokers\/0/],
  ['kafka.sasl.mechanism=plain', /kafka\.sasl\.username and kafka\.sasl\.existingSecret must be set too/],
  ['kafka.sasl.mechanism=gssapi', /kafka\/sasl\/mechanism/],
  ['kafka.tls.certKey=tls.crt', /certKey and kafka\.tls\.keyKey go together/],
  ['s3.endpoint=', /s3\.endpoint must be the URL/],
  ['s3.endpoint=store:7070', /s3\/endpoint/],
  ['s3.endpoint=https://store.example.com/path', /s3\/endpoint/],
  ['s3.secretKey=abc', /additional properties 'secretKey' not allowed/],
  ['jwt.existingSecret=', /jwt\.existingSecret must name the secret/],
  ['jwt.publicKeyKey=public.pem', /jwt\.secretKey and jwt\.publicKeyKey are both set/],
  ['apiKeyPepper.existingSecret=', /apiKeyPepper\.existingSecret must name the secret/],
  ['rpc.tls.enabled=true', /rpc\.tls\.existingSecret or services\.gateway\.rpcTlsSecret must name/],
  ['speech.url=http://speech', /speech\.url and speech\.model go together/],
  ['otlp.existingSecret=x', /otlp\.endpoint must be set too/],
  ['drain=5', /drain/],
  ['drain=25s', /terminationGracePeriodSeconds must be above 30/],
  ['logLevel=verbose', /logLevel/],
  ['services.billing.replicas=1', /additional properties 'billing' not allowed/],
  ['services.ingest.replica=1', /additional properties 'replica' not allowed/],
  ['services.ingest.replicas=two', /services\/ingest\/replicas/],
  ['services.ingest.autoscaling.minReplicas=20', /minReplicas is above its maxReplicas/],
  [
    'keda.enabled=true,services.analysis.autoscaling.enabled=true',
    /services\.analysis\.autoscaling\.enabled must be off/,
  ],
  ['ingress.enabled=true', /ingress\.hosts must name a host/],
  ['image.digest=abc', /image\/digest/],
];

function refusalFaults(program: string): string[] {
  return refusals.flatMap(([set, says]) => {
    const { status, output } = render(program, ['--values', `${chart}/ci/minimal.yaml`, '--set', set]);
    if (status === 0) return [`The chart takes ${set}.`];
    return says.test(output) ? [] : [`The chart refuses ${set}, but says: ${output}`];
  });
}

function render(program: string, args: readonly string[]) {
  return call(program, ['template', 'release', chart, '--namespace', 'calls', '--kube-version', versions[0]!, ...args]);
}

function call(program: string, args: readonly string[], input?: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    ...(input !== undefined && { input }),
  });
  return { status, output: status === 0 ? stdout : `${stdout}${stderr}`.trim() };
}

function said(name: string, check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [`${name}: ${(error as Error).message}`];
  }
}
