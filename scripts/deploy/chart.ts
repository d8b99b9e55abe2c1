import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { services } from './environment.ts';
import { componentOf, labelFaults, LONGEST_TAG, type Manifest, unmet, type Values } from './manifest.ts';
import { ingressFaults, networkFaults } from './network.ts';
import { podFaults } from './pods.ts';
import { helm, kubeconform, kubernetesSchemas, npmTools, type NpmTools, type Yaml } from './tools.ts';

/** helm's default time limit for a hook. */
const HELM_SECONDS = 300;

/**
 * Such a job runs before the rest of an upgrade, so its network policy must come before it. It must end before helm gives up on
 * it, or its reason is not reported.
 */
function jobFaults(name: string, manifests: readonly Manifest[]): string[] {
  const of = (kind: string) => manifests.find((each) => each.kind === kind && componentOf(each) === name);
  const [job, policy] = [of('Job'), of('NetworkPolicy')];
  if (job === undefined) return policy === undefined ? [] : [`There is a policy for ${name}, but no job.`];
  if (policy === undefined) return [`There is no policy for the job ${name}.`];
  const faults: string[] = [];
  if (hookOf(policy) !== hookOf(job))
    faults.push(`The job ${name} is a hook ${hookOf(job)}, its policy ${hookOf(policy)}.`);
  if (weightOf(policy) >= weightOf(job)) faults.push(`The policy of the job ${name} does not come before it.`);
  const deadline = Number(job.spec['activeDeadlineSeconds']);
  if (!(deadline < HELM_SECONDS)) faults.push(`${name} may take ${deadline} s, and helm waits for ${HELM_SECONDS}.`);
  return faults;
}

function hookOf({ metadata: { annotations } }: Manifest): string {
  return annotations?.['helm.sh/hook'] ?? 'of nothing';
}

function weightOf({ metadata: { annotations } }: Manifest): number {
  return Number(annotations?.['helm.sh/hook-weight'] ?? 0);
}

const chart = 'deploy/helm/call-analysis';
/** The oldest version that Chart.yaml allows, and the newest with published schemas. */
const versions = ['v1.27.0', 'v1.37.0'];

/** The faults of the chart, rendered with each file of values in ci/ and with values that must be refused. */
export async function chartFaults(): Promise<string[]> {
  const program = await helm();
  const tools = await npmTools();
  const faults = versionFaults();
  for (const file of globSync(`${chart}/ci/*.yaml`).toSorted()) {
    const found = await renderedFaults(program, tools, file);
    faults.push(...found.map((fault) => `${basename(file, '.yaml')}: ${fault}`));
  }
  return [...faults, ...longTagFaults(program, tools.yaml), ...refusalFaults(program), ...consumerFaults()];
}

async function renderedFaults(program: string, { yaml, models }: NpmTools, file: string): Promise<string[]> {
  const lint = call(program, ['lint', '--strict', '--quiet', '--kube-version', versions[0]!, chart, '--values', file]);
  const faults = lint.status === 0 ? [] : [lint.output];
  const rendered = render(program, '--values', file);
  if (rendered.status !== 0) return [...faults, rendered.output];
  for (const version of versions) faults.push(...(await schemaFaults(rendered.output, version)));
  const [document] = yaml.parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1' });
  const values = document!.toJS() as Values;
  const manifests = manifestsIn(yaml, rendered.output);
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    const name = `${kind} ${metadata.name}`;
    const Model = models[kind];
    if (Model !== undefined) faults.push(...said(name, () => new Model(manifest).validate()));
    if (kind === 'Secret') faults.push('the chart itself contains a Secret.');
    for (const label of ['name', 'instance', 'version', 'part-of', 'managed-by'])
      if (metadata.labels?.[`app.kubernetes.io/${label}`] === undefined) faults.push(`${name} has no label ${label}.`);
    faults.push(...labelFaults(manifest), ...(await podFaults(manifest, values)));
  }
  for (const service of services)
    if (!manifests.some((each) => each.kind === 'Deployment' && componentOf(each) === service))
      faults.push(`there is no Deployment of ${service}.`);
  return [
    ...faults,
    ...networkFaults(manifests, values),
    ...['migrations', 'kafka-readers'].flatMap((name) => jobFaults(name, manifests)),
    ...scalingFaults(manifests),
    ...ingressFaults(manifests, values),
  ];
}

function manifestsIn(yaml: Yaml, rendered: string): Manifest[] {
  return yaml
    .parseAllDocuments(rendered, { version: '1.1' })
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** A tag may be longer than the label with the version. */
function longTagFaults(program: string, yaml: Yaml): string[] {
  const { status, output } = renderMinimal(program, `image.tag=${LONGEST_TAG}`);
  return status === 0 ? manifestsIn(yaml, output).flatMap(labelFaults) : [`The chart refuses a long tag: ${output}`];
}

function versionFaults(): string[] {
  const { version } = manifest;
  return readFileSync(`${chart}/Chart.yaml`, 'utf8').includes(`\nappVersion: ${version}\n`)
    ? []
    : [`appVersion of the chart is not ${version}.`];
}

async function schemaFaults(rendered: string, version: string): Promise<string[]> {
  const location = `${await kubernetesSchemas(version)}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  // npmTools has models of these kinds.
  const skipped = 'ScaledObject,ServiceMonitor,Certificate,Issuer';
  const args = ['-strict', '-summary', '-skip', skipped, '-schema-location', location];
  const { status, output } = call(await kubeconform(), args, rendered);
  const checked = Number(/Valid: (\d+)/.exec(output)?.[1] ?? 0);
  return status === 0 && checked > 20 ? [] : [`Kubernetes ${version}: ${output}`];
}

/** Values that must be refused, in addition to those of minimal.yaml, and the expected message. */
const refusals: readonly (readonly [set: string, says: RegExp])[] = [
  ['database.existingSecret=', /services\.ingest\.database\.existingSecret must name the secret/],
  ['kafka.brokers=null', /kafka\.brokers must name at least one broker/],
  ['kafka.brokers={kafka}', /kafka\/brokers\/0/],
  ['kafka.sasl.mechanism=plain', /kafka\.sasl\.username and kafka\.sasl\.existingSecret must be set too/],
  ['kafka.sasl.mechanism=gssapi', /kafka\/sasl\/mechanism/],
  ['kafka.readers.users={reporting}', /kafka\.readers\.superUser and kafka\.readers\.existingSecret must be set too/],
  ['kafka.readers.users={CN=reporting}', /kafka\/readers\/users\/0/],
  ['kafka.tls.certKey=tls.crt', /certKey and kafka\.tls\.keyKey go together/],
  ['s3.endpoint=', /s3\.endpoint must be the URL/],
  ['s3.endpoint=store:7070', /s3\/endpoint/],
  ['s3.endpoint=https://store.example.com/path', /s3\/endpoint/],
  ['s3.secretKey=abc', /additional properties 'secretKey' not allowed/],
  ['jwt.existingSecret=', /jwt\.existingSecret must name the secret/],
  ['jwt.publicKeyKey=public.pem', /jwt\.secretKey and jwt\.publicKeyKey are both set/],
  ['apiKeyPepper.existingSecret=', /apiKeyPepper\.existingSecret must name the secret/],
  ['rpc.tls.certManager.enabled=false', /rpc\.tls\.existingSecret or services\.gateway\.rpcTlsSecret must name/],
  ['rpc.tls.certManager.enabled=false', /rpc\.tls\.existingSecret or admin\.rpcTlsSecret must name/],
  ['rpc.tls.certManager.renewBefore=8760h', /renewBefore must be shorter than duration/],
  ['rpc.tls.certManager.duration=1y', /certManager\/duration/],
  ['rpc.tls.certManager.issuerRef.kind=Issuer', /issuerRef\.name must name the issuer/],
  ['speech.url=http://speech', /speech\.url and speech\.model go together/],
  ['languageModel.url=http://models', /languageModel\.url and languageModel\.model go together/],
  ['languageModel.existingSecret=models', /languageModel\.url must be set too/],
  [
    'models.ollama.enabled=true,languageModel.url=http://m/v1,languageModel.model=m',
    /languageModel\.url .* must be empty/,
  ],
  ['models.speech.enabled=true,speech.url=http://m/v1,speech.model=m', /speech\.url .* must be empty/],
  ['models.ollama.model=', /models\/ollama\/model/],
  ['openId.issuer=https://login', /openId\.clientId and openId\.existingSecret must be set too/],
  ['openId.issuer=https://login', /one of openId\.firm and openId\.firmClaim must be set/],
  ['jwt.secretKey=,jwt.publicKeyKey=a.pem,jwt.previousSecretKey=b', /jwt\.secretKey must be set too/],
  ['admin.extraEnv={LOG_LEVEL}', /admin\/extraEnv\/0/],
  ['otlp.existingSecret=x', /otlp\.endpoint must be set too/],
  ['drain=5', /drain/],
  ['drain=1m30', /drain/],
  ['services.ingest.closeTimeout=5', /closeTimeout/],
  ['services.ingest.database.connections=5', /database\/connections/],
  ['bindAddress=localhost', /bindAddress/],
  ['s3.bucket=A_B', /s3\/bucket/],
  ['s3.bucket=a..b', /s3\/bucket/],
  ['kafka.topicPrefix=a b', /kafka\/topicPrefix/],
  ['kafka.brokers={kafka:65536}', /kafka\/brokers\/0/],
  ['gateway.trustedProxies={bad}', /gateway\/trustedProxies\/0/],
  ['gateway.corsOrigins={example.com}', /gateway\/corsOrigins\/0/],
  ['networkPolicy.database.ports=null', /networkPolicy\/database/],
  [
    'trustedCertificates.existingSecret=a,trustedCertificates.existingConfigMap=b',
    /existingSecret and trustedCertificates\.existingConfigMap are both set/,
  ],
  ['logLevel=verbose', /logLevel/],
  ['services.billing.replicas=1', /additional properties 'billing' not allowed/],
  ['services.ingest.replica=1', /additional properties 'replica' not allowed/],
  ['services.ingest.replicas=two', /services\/ingest\/replicas/],
  ['services.ingest.autoscaling.minReplicas=20', /minReplicas is above its maxReplicas/],
  [
    'keda.enabled=true,services.analysis.autoscaling.enabled=true',
    /services\.analysis\.autoscaling\.enabled must be off/,
  ],
  ['keda.enabled=true', /serviceMonitor\.enabled must be on, or keda\.scrapedOtherwise/],
  [
    'keda.enabled=true,keda.scrapedOtherwise=true,networkPolicy.metricsFrom=null',
    /networkPolicy\.metricsFrom must let it in/,
  ],
  ['ingress.enabled=true', /ingress\.hosts must name a host/],
  ['ingress.enabled=true', /gateway\.trustedProxies must name the addresses/],
  ['image.digest=abc', /image\/digest/],
  ['image.tag=a b', /image\/tag/],
  ['nameOverride=calls!', /nameOverride/],
  ['fullnameOverride=Calls', /fullnameOverride/],
];

function refusalFaults(program: string): string[] {
  return refusals.flatMap(([set, says]) => {
    const { status, output } = renderMinimal(program, set);
    if (status === 0) return [`The chart takes ${set}.`];
    return says.test(output) ? [] : [`The chart refuses ${set}, but says: ${output}`];
  });
}

function renderMinimal(program: string, set: string) {
  return render(program, '--values', `${chart}/ci/minimal.yaml`, '--set', set);
}

function render(program: string, ...args: readonly string[]) {
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

interface Spec {
  readonly fallback?: object;
  readonly triggers: readonly { readonly metricType?: string; readonly metadata: Readonly<Record<string, string>> }[];
}

/** Finds values that KEDA would refuse or misinterpret. */
function scalingFaults(manifests: readonly Manifest[]): string[] {
  return manifests
    .filter(({ kind }) => kind === 'ScaledObject')
    .flatMap(({ metadata: { name }, spec }) => {
      const { fallback, triggers } = spec as unknown as Spec;
      return unmet(`ScaledObject ${name}`, [
        [fallback === undefined, 'has a number of pods for when Prometheus is away, instead of what there are'],
        // `Value` multiplies the present number of pods repeatedly.
        [triggers.every((each) => each.metricType === 'AverageValue'), 'scales by something else than AverageValue'],
        [triggers.every((each) => each.metadata['ignoreNullValues'] === 'false'), 'takes no figure for a wait of 0 s'],
      ]);
    });
}

/** KEDA queries the queues of the consumers that have their service's name. */
function consumerFaults(): string[] {
  return ['transcription', 'analysis'].flatMap((service) => {
    const isNamed = readFileSync(`services/${service}/consumers.ts`, 'utf8').includes(`consumer: '${service}',`);
    return isNamed ? [] : [`No consumer of ${service} is called ${service}, whose queue KEDA watches.`];
  });
}
