import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { waitUntil } from '../../packages/testing/wait-until.ts';
import { LONGEST_TAG } from '../deploy/manifest.ts';
import { seconds, step } from '../steps.ts';
import { type ClusterApi, type Kind, Refused } from './api.ts';
import { fewestDuring, refuse, settled } from './checks.ts';
import { AUTOSCALER_LOOKS_EVERY_S } from './control-plane.ts';
import { objectsOf, prepareNamespace } from './prerequisites.ts';
import { type Release, RELEASED_CHART } from './release.ts';

export const CI = 'deploy/helm/call-analysis/ci';
const DEPLOYMENTS = 'deployments/calls-call-analysis';

export interface Context {
  readonly api: ClusterApi;
  readonly kinds: readonly Kind[];
  /** A release in a new namespace. */
  readonly release: (namespace: string) => Promise<Release>;
  /** @throws if the API server refuses or warns of any of these objects */
  readonly accepts: (yaml: string, namespace: string) => Promise<void>;
}

/** Otherwise what follows would prove nothing. */
export async function refuseWrong({ api }: Context): Promise<void> {
  const namespace = 'refusals';
  await prepareNamespace(api, namespace);
  const container = { name: 'one', image: 'one' };
  const wrong = [
    [
      `/api/v1/namespaces/${namespace}/services?fieldValidation=Strict`,
      { metadata: { name: 'one' }, spec: { port: [] } },
      /unknown field "spec\.port"/,
    ],
    [
      `/api/v1/namespaces/${namespace}/pods`,
      { metadata: { name: 'one' }, spec: { containers: [container] } },
      /violates PodSecurity "restricted/,
    ],
  ] as const;
  for (const [path, object, says] of wrong) {
    const said = await api.ask('POST', path, object).then(
      () => 'It was created.',
      (error: Error) => (error instanceof Refused ? error.message : Promise.reject(error)),
    );
    if (!says.test(said)) throw new Error(`A wrong object was not refused as it should be: ${said}`);
  }
}

/** An installation with a set of values, from the first command to the last. */
export async function life(
  context: Context,
  name: string,
  { file, next }: { file: string; next: string },
): Promise<void> {
  const { api, accepts } = context;
  const release = await context.release(name);
  const { namespace } = release;
  const refuseLeftovers = await rememberObjects(context, namespace);
  await step(`${name}: let the API server read what would be created, also with a long tag`, async () => {
    for (const [kind, set] of [
      ['dry', []],
      ['long', ['image.digest=', `image.tag=${LONGEST_TAG}`]],
    ] as const) {
      const dry = await context.release(`${name}-${kind}`);
      await accepts(await dry.rendered({ file, set }), dry.namespace);
    }
  });
  await step(`${name}: helm install`, async () => {
    await release.install({ file });
    await settled(api, namespace);
  });
  await step(`${name}: helm test, whose pod the stand-in ends`, () => release.test());
  const first = await imagesOf(api, namespace);
  await step(`${name}: helm upgrade to another image, without fewer pods meanwhile`, async () => {
    await withoutFewerPods(api, namespace, () => release.upgrade({ file, set: ['image.digest=', 'image.tag=next'] }));
    await settled(api, namespace);
  });
  await step(`${name}: helm upgrade to the values of ${basename(next)}`, async () => {
    await release.upgrade({ file: next });
    await settled(api, namespace);
  });
  await step(`${name}: helm rollback to the first revision`, async () => {
    await release.rollback(1);
    await settled(api, namespace);
    const now = await imagesOf(api, namespace);
    if (now !== first) throw new Error(`These images run: ${now}, and not ${first}.`);
  });
  await step(`${name}: helm uninstall, which leaves nothing but the finished migrations`, async () => {
    await release.uninstall();
    await refuseLeftovers();
  });
}

async function imagesOf(api: ClusterApi, namespace: string): Promise<string> {
  const deployments = await api.list(`/apis/apps/v1/namespaces/${namespace}/deployments`);
  return deployments
    .map(({ metadata, spec }) => `${metadata.name}=${spec.template.spec.containers[0].image}`)
    .toSorted()
    .join(' ');
}

/** What a namespace has before an installation. Returns what compares it with what the namespace has after its end. */
async function rememberObjects({ api, kinds }: Context, namespace: string): Promise<() => Promise<void>> {
  const list = () => objectsOf(api, kinds, namespace);
  // Made by controllers in every namespace.
  await waitUntil(async () => (await list()).has('configmaps/kube-root-ca.crt'));
  const before = await list();
  return async () => {
    // The job of migrations is kept with its log for a day, and then removed by its controller.
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    for (const { metadata, spec } of await api.list(jobs)) {
      if (spec.ttlSecondsAfterFinished !== 86_400) throw new Error(`Job ${metadata.name} has no end.`);
      await api.ask('PATCH', `${jobs}/${metadata.name}`, { spec: { ttlSecondsAfterFinished: 0 } });
    }
    await waitUntil(async () => {
      const now = await list();
      // The claims of model servers stay, with the models that they have downloaded.
      const left = [...now.difference(before)].filter(
        (each) => !each.startsWith('persistentvolumeclaims/models-calls-'),
      );
      refuse([
        ...left.map((object) => `${object} is left.`),
        ...[...before.difference(now)].map((object) => `${object} was there before.`),
      ]);
      return true;
    });
  };
}

/** The examples of PostgreSQL and Kafka by operators. */
export async function resourcesOfOperators({ release, accepts }: Context): Promise<void> {
  for (const file of globSync('deploy/helm/operators/*.yaml').toSorted()) {
    await step(`operators: let the API server read ${file}`, async () => {
      const { namespace } = await release(`operators-${basename(file, '.yaml')}`);
      await accepts(readFileSync(file, 'utf8'), namespace);
    });
  }
}

/** From the chart of the last release to this one, with changed values, and back. */
export async function upgradeFromRelease(context: Context): Promise<void> {
  const { api } = context;
  const release = await context.release('upgrade');
  const { namespace } = release;
  const file = `${CI}/minimal.yaml`;
  const refuseLeftovers = await rememberObjects(context, namespace);
  await step('upgrade: helm install the chart of the last release', () => release.install({ file }, RELEASED_CHART));
  const first = await imagesOf(api, namespace);
  await step('upgrade: helm upgrade to this chart with other values, without fewer pods meanwhile', () =>
    withoutFewerPods(api, namespace, async () => {
      await release.upgrade({ file, set: ['image.tag=next', 'services.gateway.replicas=3', 'speech.workers=1'] });
      await settled(api, namespace);
    }),
  );
  await step('upgrade: helm rollback to the chart of the last release', async () => {
    await release.rollback(1);
    const now = await imagesOf(api, namespace);
    if (now !== first) throw new Error(`These images run: ${now}, and not ${first}.`);
  });
  await step('upgrade: helm uninstall', async () => {
    await release.uninstall();
    await refuseLeftovers();
  });
}

/** A node is emptied as by \`kubectl drain\`: pods are evicted, which their PodDisruptionBudgets delay. */
export async function drain(context: Context): Promise<void> {
  const { api } = context;
  const release = await context.release('drain');
  const { namespace } = release;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await step('drain: helm install', () => release.install({ file: `${CI}/minimal.yaml` }));
  await step('drain: empty a node; each service loses one pod at most', async () => {
    const node = '/api/v1/nodes/node-1';
    const onNode = async () => (await api.list(pods)).filter(({ spec }) => spec.nodeName === 'node-1');
    if ((await onNode()).length < 7) throw new Error('Too few pods are on the node.');
    await api.ask('PATCH', node, { spec: { unschedulable: true } });
    const fewest = await fewestDuring(api, namespace, async () => {
      await waitUntil(async () => {
        const left = (await onNode()).filter(({ status }) => status.phase === 'Running');
        await Promise.all(left.map(({ metadata: { name } }) => evict(api, `${pods}/${name}`, name)));
        return left.length === 0;
      });
      await settled(api, namespace);
    });
    await api.ask('PATCH', node, { spec: { unschedulable: null } });
    for (const [deployment, { available }] of fewest)
      if (!deployment.endsWith('-admin') && available < 1) throw new Error(`${deployment} had no pod.`);
    await release.uninstall();
  });
}

/** Not yet, where another pod of the service is missing already. */
async function evict(api: ClusterApi, path: string, name: string): Promise<void> {
  try {
    await api.ask('POST', `${path}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
  } catch (error) {
    if (!(error instanceof Refused && [404, 429].includes(error.status))) throw error;
  }
}

/** @throws if a service had fewer pods at any moment of `work` than before */
async function withoutFewerPods(api: ClusterApi, namespace: string, work: () => Promise<unknown>): Promise<void> {
  const ready = await fewestDuring(api, namespace, async () => {});
  const fewest = await fewestDuring(api, namespace, work);
  for (const [deployment, { available }] of ready)
    if (!deployment.endsWith('-admin') && fewest.get(deployment)!.available < available)
      throw new Error(`${deployment} had ${fewest.get(deployment)!.available} of ${available} pods.`);
}

/** Fixed numbers of pods, then the autoscaler, then fixed numbers again. */
export async function switchAutoscaling(context: Context): Promise<void> {
  const { api } = context;
  const release = await context.release('autoscaling');
  const { namespace } = release;
  const file = `${CI}/minimal.yaml`;
  const gateway = `/apis/apps/v1/namespaces/${namespace}/${DEPLOYMENTS}-gateway`;
  const replicas = async () => (await api.ask('GET', gateway))['spec'].replicas as number;
  const autoscaled = ['defaults.autoscaling.enabled=true', 'defaults.autoscaling.minReplicas=3'];
  await step('autoscaling: helm install with 4 pods of the gateway', () =>
    release.install({ file, set: ['services.gateway.replicas=4'] }),
  );
  await step('autoscaling: switch it on', async () => {
    const fewest = await fewestDuring(api, namespace, async () => {
      await release.upgrade({ file, set: autoscaled });
      const appliedAt = Date.now();
      await waitUntil(async () => (await replicas()) >= 3);
      console.log(
        `        the autoscaler asked for 3 pods ${seconds(appliedAt)} after helm had ended; it looks every ${AUTOSCALER_LOOKS_EVERY_S} s`,
      );
    });
    const { wanted, available } = fewest.get('calls-call-analysis-gateway')!;
    console.log(`        of 4 pods of the gateway ${wanted} was asked for meanwhile, and ${available} was there`);
  });
  await step(
    'autoscaling: an upgrade and a rollback leave the number of pods that the autoscaler has chosen',
    async () => {
      await api.ask('PATCH', `${gateway}/scale`, { spec: { replicas: 6 } });
      const fewest = await fewestDuring(api, namespace, async () => {
        await release.upgrade({ file, set: [...autoscaled, 'image.tag=next'] });
        await release.rollback(2);
      });
      const { wanted } = fewest.get('calls-call-analysis-gateway')!;
      if (wanted !== 6 || (await replicas()) !== 6) throw new Error(`Of 6 pods ${wanted} were asked for.`);
    },
  );
  await step('autoscaling: the autoscaler asks for more pods when they take more processor time', async () => {
    await setProcessorTime(api, namespace, 'gateway', '500m');
    await waitUntil(async () => (await replicas()) === 10);
    await waitUntil(async () => (await api.ask('GET', gateway))['status'].readyReplicas === 10);
  });
  await step('autoscaling: helm rollback to fixed numbers', async () => {
    // Otherwise the autoscaler may set its number again after helm has set the fixed one, before helm removes it.
    await api.ask('DELETE', `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`);
    await release.rollback(1);
    await settled(api, namespace);
    const now = await replicas();
    if (now !== 4) throw new Error(`The gateway has ${now} pods and not its 4.`);
    await release.uninstall();
  });
}

/** Reports processor time of each pod of a service, as a server of metrics would. The reports go with the pods. */
async function setProcessorTime(api: ClusterApi, namespace: string, component: string, cpu: string): Promise<void> {
  const label = `labelSelector=app.kubernetes.io/component=${component}`;
  for (const { metadata, spec } of await api.list(`/api/v1/namespaces/${namespace}/pods?${label}`)) {
    const { name, labels } = metadata;
    const owner = { apiVersion: 'v1', kind: 'Pod', name, uid: metadata.uid };
    await api.ask('POST', `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`, {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name, labels, ownerReferences: [owner] },
      timestamp: new Date().toISOString(),
      window: '1s',
      containers: spec.containers.map((each: { name: string }) => ({
        name: each.name,
        usage: { cpu, memory: '100Mi' },
      })),
    });
  }
}
