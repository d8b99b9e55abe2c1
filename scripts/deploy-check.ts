// npm run check:deploy: checks the Dockerfile, docker-compose.yml, the chart and the files for Prometheus and Grafana without
// a container engine and without a cluster. Downloads the programs that it needs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };
import { chartFaults } from './deploy/chart.ts';
import { composeFaults } from './deploy/compose.ts';
import { observabilityFaults } from './deploy/observability.ts';
import { hadolint } from './deploy/tools.ts';

const steps: { name: string; run: () => Promise<readonly string[]> }[] = [
  { name: 'Dockerfile', run: dockerfileFaults },
  { name: 'compose', run: composeFaults },
  { name: 'chart', run: chartFaults },
  { name: 'alerts, dashboard and metrics', run: observabilityFaults },
];

let failed = 0;
for (const { name, run } of steps) {
  const faults = await run();
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) failed++;
}
process.exitCode = failed === 0 ? 0 : 1;

/** Besides hadolint: the base image has the Node of the tests, and the label has the version of package.json. */
async function dockerfileFaults(): Promise<string[]> {
  const { status, stdout, stderr } = spawnSync(await hadolint(), ['deploy/Dockerfile'], { encoding: 'utf8' });
  const faults = status === 0 ? [] : [`${stdout}${stderr}`.trim()];
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
  const pinned = /^ {2}node: (\S+)$/m.exec(readFileSync('pnpm-workspace.yaml', 'utf8'))?.[1];
  if (!dockerfile.includes(`ARG NODE=${pinned}-`)) faults.push(`ARG NODE of deploy/Dockerfile is not ${pinned}.`);
  if (!dockerfile.includes(`ARG VERSION=${manifest.version}\n`))
    faults.push(`ARG VERSION of deploy/Dockerfile is not ${manifest.version}.`);
  return faults;
}
