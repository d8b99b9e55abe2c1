// npm run test:cluster: the chart on a control plane of Kubernetes, which is built from source and runs on loopback. No container
// runs: stand-ins.ts marks pods as a kubelet would. Needs Go and npm.
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LONGEST_TAG } from '../deploy/labels.ts';
import { helm, npmTools } from '../deploy/tools.ts';
import { type ClusterApi, type Kind, Refused } from './api.ts';
import { fewestDuring, settledFaults, strictFaults } from './checks.ts';
import { AUTOSCALER_LOOKS_EVERY_S, type ControlPlane, startControlPlane } from './control-plane.ts';
import { objectsOf, prepareCluster, prepareNamespace } from './prerequisites.ts';
import { controlPlanePrograms, customResourceDefinitions } from './programs.ts';
import { Release, type Values } from './release.ts';
import { addNodes, type StandIns, startStandIns } from './stand-ins.ts';

const CI = 'deploy/helm/call-analysis/ci';
const DEPLOYMENTS = 'deployments/calls-call-analysis';

const { values: options } = parseArgs({ options: { only: { type: 'string' } } });
const began = Date.now();
const work = mkdtempSync(join(tmpdir(), 'cluster-'));
let plane: ControlPlane | undefined;
let standIns: StandIns | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void end(1));
}

try {
  const [program, definitions, { yaml }, programs] = await step(
    'fetch helm, and build Kubernetes where it is not cached',
    () => Promise.all([helm(), customResourceDefinitions(), npmTools(), controlPlanePrograms()]),
  );
  plane = await step('start etcd, the API server, the controllers and the scheduler', () =>
    startControlPlane(programs),
  );
  const { api, kubeconfig } = plane;
  await step('define the kinds of cert-manager, KEDA and Prometheus, and two nodes', async () => {
    await prepareCluster(api, yaml, definitions);
    await addNodes(api);
  });
  standIns = startStandIns(api);
  const kinds = await api.kinds();
  const context: Context = {
    api,
    kinds,
    rendered: async (release, values) =>
      refuse(
        await strictFaults(api, kinds, {
          yaml,
          rendered: await release.rendered(values),
          namespace: release.namespace,
        }),
      ),
    release: (namespace) => new Release(namespace, { program, kubeconfig, folder: work }),
  };
  await step('see that an unknown field and a pod that is not restricted are refused', () => refuseWrong(context));

  const files = globSync(`${CI}/*.yaml`).toSorted();
  for (const [index, file] of files.entries()) {
    const name = basename(file, '.yaml');
    if (options.only === undefined || options.only === name)
      await life(context, name, { file, next: files[(index + 1) % files.length]! });
  }
  if (options.only === undefined || options.only === 'autoscaling') await switchAutoscaling(context);
  console.log(`ok      cluster, ${seconds(began)}`);
  await end(0);
} catch (error) {
  console.log(`FAILED  ${(error as Error).message}`);
  for (const [pod, why] of standIns?.waiting ?? []) console.log(`        ${pod} waits: ${why}`);
  await end(1);
}

interface Context {
  readonly api: ClusterApi;
  readonly kinds: readonly Kind[];
  readonly release: (namespace: string) => Release;
  /** @throws if the API server refuses or warns of anything that the release would create */
  readonly rendered: (release: Release, values: Values) => Promise<void>;
}

async function step<Result>(name: string, run: () => Result | Promise<Result>): Promise<Result> {
  const started = Date.now();
  console.log(`        ${name}`);
  const result = await run();
  console.log(`ok      ${name}, ${seconds(started)}`);
  return result;
}

function seconds(since: number): string {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}

async function end(code: number): Promise<void> {
  await standIns?.stop().catch(() => {});
  await plane?.stop();
  rmSync(work, { recursive: true, force: true });
  process.exit(code);
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Otherwise what follows would prove nothing. */
async function refuseWrong({ api }: Context): Promise<void> {
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
async function life(context: Context, name: string, { file, next }: { file: string; next: string }): Promise<void> {
  const { api, kinds, rendered } = context;
  const release = context.release(name);
  const { namespace } = release;
  await prepareNamespace(api, namespace);
  // Made by controllers in every namespace.
  await waitFor(async () => (await objectsOf(api, kinds, namespace)).has('configmaps/kube-root-ca.crt'));
  const before = await objectsOf(api, kinds, namespace);
  await step(`${name}: let the API server read what would be created, also with a long tag`, async () => {
    for (const [kind, set] of [
      ['dry', []],
      ['long', ['image.digest=', `image.tag=${LONGEST_TAG}`]],
    ] as const) {
      const dry = context.release(`${name}-${kind}`);
      await prepareNamespace(api, dry.namespace);
      await rendered(dry, { file, set });
    }
  });
  await step(`${name}: helm install`, async () => {
    await release.install({ file });
    refuse(await settledFaults(api, namespace));
  });
  await step(`${name}: helm test, whose pod the stand-in ends`, () => release.test());
  const first = await imagesOf(api, namespace);
  await step(`${name}: helm upgrade to another image, without fewer pods meanwhile`, async () => {
    const ready = await fewestDuring(api, namespace, async () => {});
    const fewest = await fewestDuring(api, namespace, () =>
      release.upgrade({ file, set: ['image.digest=', 'image.tag=next'] }),
    );
    refuse(await settledFaults(api, namespace));
    for (const [deployment, { available }] of ready)
      if (!deployment.endsWith('-admin') && fewest.get(deployment)!.available < available)
        throw new Error(`${deployment} had ${fewest.get(deployment)!.available} of ${available} pods.`);
  });
  await step(`${name}: helm upgrade to the values of ${basename(next)}`, async () => {
    await release.upgrade({ file: next });
    refuse(await settledFaults(api, namespace));
  });
  await step(`${name}: helm rollback to the first revision`, async () => {
    await release.rollback(1);
    refuse(await settledFaults(api, namespace));
    const now = await imagesOf(api, namespace);
    if (now !== first) throw new Error(`These images run: ${now}, and not ${first}.`);
  });
  await step(`${name}: helm uninstall, which leaves nothing but the finished migrations`, async () => {
    await release.uninstall();
    await refuseLeftovers(context, namespace, before);
  });
}

async function imagesOf(api: ClusterApi, namespace: string): Promise<string> {
  const deployments = await api.list(`/apis/apps/v1/namespaces/${namespace}/deployments`);
  return deployments
    .map(({ metadata, spec }) => `${metadata.name}=${spec.template.spec.containers[0].image}`)
    .toSorted()
    .join(' ');
}

/** The job of migrations is kept with its log for a day, and then removed by its controller. */
async function refuseLeftovers({ api, kinds }: Context, namespace: string, before: ReadonlySet<string>): Promise<void> {
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  for (const { metadata, spec } of await api.list(jobs)) {
    if (spec.ttlSecondsAfterFinished !== 86_400) throw new Error(`Job ${metadata.name} has no end.`);
    await api.ask('PATCH', `${jobs}/${metadata.name}`, { spec: { ttlSecondsAfterFinished: 0 } });
  }
  let left: string[] = [];
  const isClean = async () => {
    left = [...(await objectsOf(api, kinds, namespace))].filter((object) => !before.has(object));
    return left.length === 0;
  };
  await waitFor(isClean).catch(() => {
    throw new Error(`These are left: ${left.join(', ')}`);
  });
  const now = await objectsOf(api, kinds, namespace);
  const lost = [...before].filter((object) => !now.has(object));
  if (lost.length > 0) throw new Error(`These were there before: ${lost.join(', ')}`);
}

/** Fixed numbers of pods, then the autoscaler, then fixed numbers again. */
async function switchAutoscaling(context: Context): Promise<void> {
  const { api } = context;
  const release = context.release('autoscaling');
  const { namespace } = release;
  const file = `${CI}/minimal.yaml`;
  const gateway = `/apis/apps/v1/namespaces/${namespace}/${DEPLOYMENTS}-gateway`;
  const replicas = async () => (await api.ask('GET', gateway))['spec'].replicas as number;
  const autoscaled = ['defaults.autoscaling.enabled=true', 'defaults.autoscaling.minReplicas=3'];
  await prepareNamespace(api, namespace);
  await step('autoscaling: helm install with 4 pods of the gateway', () =>
    release.install({ file, set: ['services.gateway.replicas=4'] }),
  );
  await step('autoscaling: switch it on', async () => {
    const fewest = await fewestDuring(api, namespace, async () => {
      await release.upgrade({ file, set: autoscaled });
      const appliedAt = Date.now();
      await waitFor(async () => (await replicas()) >= 3);
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
  await step('autoscaling: helm rollback to fixed numbers', async () => {
    await release.rollback(1);
    refuse(await settledFaults(api, namespace));
    if ((await replicas()) !== 4) throw new Error('The gateway does not have its 4 pods.');
    await release.uninstall();
  });
}

async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error('It takes more than a minute.');
    await pause(200);
  }
}
