import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exposition, METRIC_PREFIX } from '../../packages/runtime/index.ts';
import { npmTools, promtool } from './tools.ts';

const FOLDER = 'deploy/observability';

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface AlertTests {
  readonly tests: readonly { readonly promql_expr_test: readonly { readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

/**
 * What is wrong with the alerts, their tests, the dashboard and the metrics: each alert fires in a test, each query is
 * valid and asks for metrics that exist, and the page of metrics follows the rules of Prometheus.
 */
export async function observabilityFaults(): Promise<readonly string[]> {
  const program = await promtool();
  const { yaml } = await npmTools();
  const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
  const parsed = (file: string) => yaml.parseAllDocuments(read(file), { version: '1.1' })[0]?.toJS();
  const rules = (parsed('alerts.yaml') as Alerts).groups.flatMap((group) => group.rules);
  const tested = (parsed('alerts.test.yaml') as AlertTests).tests
    .flatMap((each) => each.promql_expr_test)
    .map(({ expr }) => expr);
  const queries = (JSON.parse(read('dashboard.json')) as Dashboard).panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, expr })),
  );
  const page = await metricsPage();
  const known = namesOn(page);
  const unknown = [...rules.map(({ alert, expr }) => ({ title: alert, expr })), ...queries].flatMap(({ title, expr }) =>
    [...expr.matchAll(new RegExp(`${METRIC_PREFIX}\\w+`, 'g'))]
      .filter(([name]) => !known.has(name))
      .map(([name]) => `${title} asks for ${name}, which no process exports`),
  );
  return [
    ...rules
      .filter(({ alert }) => !tested.some((expr) => expr.includes(`"${alert}"`)))
      .map(({ alert }) => `no test makes ${alert} fire`),
    ...unknown,
    ...faultsOf(program, ['check', 'rules', 'alerts.yaml'], { cwd: FOLDER }),
    ...faultsOf(program, ['test', 'rules', 'alerts.test.yaml'], { cwd: FOLDER }),
    ...queryFaults(program, queries),
    ...faultsOf(program, ['check', 'metrics'], { input: page }),
  ];
}

/** The page of a process that has every metric. */
async function metricsPage(): Promise<string> {
  const files = globSync('{packages,services}/**/*.ts', { exclude: ['**/node_modules', '**/*.test.ts'] });
  const declaring = files.filter((file) =>
    /^(?:export )?const \w+ = (?:counter|gauge|histogram)\(|^const gauges = /m.test(readFileSync(file, 'utf8')),
  );
  for (const file of declaring) await import(pathToFileURL(resolve(file)).href);
  return exposition();
}

/** The names of all series, those of histograms with their endings. */
function namesOn(page: string): Set<string> {
  const names = [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  return new Set(names);
}

/** promtool reads queries as recording rules. */
function queryFaults(program: string, queries: readonly { title: string; expr: string }[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'queries-'));
  try {
    const rules = queries.map(({ expr }, index) => ({ record: `query_${index}`, expr }));
    writeFileSync(join(folder, 'queries.yaml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    return faultsOf(program, ['check', 'rules', join(folder, 'queries.yaml')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function faultsOf(program: string, args: string[], options: { cwd?: string; input?: string } = {}): string[] {
  const { status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' });
  return status === 0 ? [] : [`promtool ${args.join(' ')}: ${stdout}${stderr}`.trim()];
}
