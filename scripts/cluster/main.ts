// npm run test:cluster: the chart on a control plane of Kubernetes, which is built from source and runs on loopback. No container
// runs: stand-ins.ts marks pods as a kubelet would. Needs Go and npm, and Maven and Java 21 for the kinds of Strimzi (the program of
// JAVA_HOME, or `java`). `-- --only NAME` runs one set of values or one scenario.
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { helm, npmTools } from '../deploy/tools.ts';
import { seconds, step } from '../steps.ts';
import { refuse, strictFaults } from './checks.ts';
import { startControlPlane } from './control-plane.ts';
import { defineKinds, defineMetrics, prepareCluster, prepareNamespace } from './prerequisites.ts';
import { controlPlanePrograms, customResourceDefinitions } from './programs.ts';
import { releaseIn } from './release.ts';
import {
  CI,
  type Context,
  drain,
  life,
  refuseWrong,
  resourcesOfOperators,
  switchAutoscaling,
  upgradeFromRelease,
} from './scenarios.ts';
import { addNodes, startStandIns } from './stand-ins.ts';

const { values: options } = parseArgs({ options: { only: { type: 'string' } } });
const began = Date.now();
const work = mkdtempSync(join(tmpdir(), 'cluster-'));
let plane: Awaited<ReturnType<typeof startControlPlane>> | undefined;
let standIns: ReturnType<typeof startStandIns> | undefined;
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
  await step('define the kinds of other controllers, and of metrics, and two nodes', async () => {
    await defineKinds(api, yaml, definitions);
    await defineMetrics(api);
    await prepareCluster(api);
    await addNodes(api);
  });
  standIns = startStandIns(api);
  const kinds = await api.kinds();
  const context: Context = {
    api,
    kinds,
    accepts: async (rendered, namespace) => refuse(await strictFaults(api, kinds, { yaml, rendered, namespace })),
    async release(namespace) {
      await prepareNamespace(api, namespace);
      return releaseIn(namespace, { program, kubeconfig, home: work });
    },
  };
  await step('see that an unknown field and a pod that is not restricted are refused', () => refuseWrong(context));

  const files = globSync(`${CI}/*.yaml`).toSorted();
  for (const [index, file] of files.entries()) {
    const name = basename(file, '.yaml');
    if (options.only === undefined || options.only === name)
      await life(context, name, { file, next: files[(index + 1) % files.length]! });
  }
  for (const [name, run] of Object.entries({
    operators: resourcesOfOperators,
    upgrade: upgradeFromRelease,
    drain,
    autoscaling: switchAutoscaling,
  }))
    if (options.only === undefined || options.only === name) await run(context);
  console.log(`ok      cluster, ${seconds(began)}`);
  await end(0);
} catch (error) {
  console.log('FAILED ', error);
  for (const [pod, why] of standIns?.waiting ?? []) console.log(`        ${pod} waits: ${why}`);
  await end(1);
}

async function end(code: number): Promise<void> {
  await standIns?.stop().catch(() => {});
  await plane?.stop();
  rmSync(work, { recursive: true, force: true });
  process.exit(code);
}
