import { allMetrics, type Metric, type Sample } from './metrics.ts';

/** Media type of the page, the text format of Prometheus. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** All that this process measures. The same process on the same page: what is of one service bears its name. */
export async function exposition(): Promise<string> {
  const texts = await Promise.all([...[...allMetrics()].map(written), processMetrics()]);
  return texts.join('');
}

async function written(metric: Metric): Promise<string> {
  let text = `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n`;
  for (const sample of await metric.samples()) text += line(metric.name, sample);
  return text;
}

function line(name: string, { suffix, labels, value }: Sample): string {
  let inBraces = '';
  for (let at = 0; at < labels.length; at += 2) {
    inBraces += `${at === 0 ? '' : ','}${labels[at]}="${escaped(labels[at + 1]!)}"`;
  }
  return `${name}${suffix}${inBraces === '' ? '' : `{${inBraces}}`} ${value}\n`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

let collected: Promise<{ metrics(): Promise<string> }> | undefined;

/**
 * Processor, memory, garbage collection and the event loop, by prom-client, from the first time that somebody asks:
 * loading it costs 80 ms and 18 MiB, which a process that nobody watches does not pay.
 */
async function processMetrics(): Promise<string> {
  collected ??= collect();
  return (await collected).metrics();
}

async function collect(): Promise<{ metrics(): Promise<string> }> {
  const { default: client } = await import('prom-client');
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  return { metrics: async () => (await registry.metrics()).replaceAll(/\n+/g, '\n') };
}
