import { hasEngine } from '../servers/containers.ts';
import { startKafka } from '../servers/kafka/kafka.ts';
import { startS3 } from '../servers/s3/s3.ts';
import { startToxiproxy } from '../servers/toxiproxy/toxiproxy-server.ts';
import startPostgres, { stop as stopPostgres } from './start.ts';

interface Started {
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const started: Started[] = [];

/** One server of each kind for the whole run, unless the environment names one. Says which they are and whence. */
export default async function start(): Promise<void> {
  const engine = await hasEngine();
  const outcomes = await Promise.allSettled([
    postgres(),
    offer('Kafka', ['TEST_KAFKA_BROKERS'], async () => {
      const kafka = await startKafka({ engine });
      return { how: kafka.how, variables: { TEST_KAFKA_BROKERS: kafka.brokers.join(',') }, stop: kafka.stop };
    }),
    offer('S3', ['TEST_S3_ENDPOINT', 'TEST_S3_ACCESS_KEY', 'TEST_S3_SECRET_KEY'], async () => {
      const { how, endpoint, accessKey, secretKey, stop: end } = await startS3({ engine });
      const variables = { TEST_S3_ENDPOINT: endpoint, TEST_S3_ACCESS_KEY: accessKey, TEST_S3_SECRET_KEY: secretKey };
      return { how, variables, stop: end };
    }),
    offer('Toxiproxy', ['TEST_TOXIPROXY_URL'], async () => {
      const { how, url, stop: end } = await startToxiproxy({ engine });
      return { how, variables: { TEST_TOXIPROXY_URL: url }, stop: end };
    }),
  ]);
  const reasons = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [String(outcome.reason.message)] : [],
  );
  if (reasons.length === 0) return;
  await stop();
  throw new Error(reasons.join('\n'));
}

/** As in the run that needs nothing else. */
async function postgres(): Promise<void> {
  const named = process.env['TEST_DATABASE_URL'] !== undefined;
  await startPostgres();
  started.push({ variables: {}, stop: stopPostgres });
  say('PostgreSQL', named ? 'named by TEST_DATABASE_URL' : 'from npm');
}

/** Named by the environment, or started now. */
async function offer(
  name: string,
  variables: readonly string[],
  open: () => Promise<Started & { readonly how: string }>,
): Promise<void> {
  const [first = ''] = variables;
  if (process.env[first] !== undefined) {
    const missing = variables.filter((variable) => process.env[variable] === undefined);
    if (missing.length > 0) throw new Error(`${first} is set, and so must be ${missing.join(' and ')}.`);
    say(name, `named by ${first}`);
    return;
  }
  const server = await open();
  started.push(server);
  Object.assign(process.env, server.variables);
  say(name, server.how);
}

function say(name: string, how: string): void {
  process.stderr.write(`${name}: ${how}\n`);
}

export async function stop(): Promise<void> {
  await Promise.allSettled(
    started.splice(0).map(async (server) => {
      for (const variable of Object.keys(server.variables)) delete process.env[variable];
      await server.stop();
    }),
  );
}
