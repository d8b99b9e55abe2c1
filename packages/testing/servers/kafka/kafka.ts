import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { containerRunner } from '../containers.ts';
import { ownServer, type OwnServer } from '../own-server.ts';
import { freePort } from '../ports.ts';
import { makeDirectory, processRunner } from '../process.ts';
import { type Environment, kafkaProgram, kafkaVersion } from '../programs.ts';
import { type Place, start } from '../ways.ts';
import { answersMetadata } from './kafka-metadata.ts';

export interface KafkaServer extends OwnServer {
  /** What clients are told, `host:port`. */
  readonly brokers: string[];
  /** A container or a program of this machine, in words. */
  readonly how: string;
}

export interface KafkaOptions extends Place {
  /** How clients speak to it. For TLS give `ssl.keystore.type=PEM` with `ssl.keystore.key` and `…certificate.chain`. */
  readonly protocol?: 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';
  /** More lines of server.properties, or others in the place of those that are there. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Users who sign in with SCRAM; they must be known before the broker first starts. */
  readonly scram?: readonly { mechanism: 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }[];
  /** Gets the address where the broker listens, says which one clients are told: a proxy's before it. */
  readonly advertise?: (address: string) => string | Promise<string>;
}

const image = `apache/kafka:${kafkaVersion}`;
// The quick compiler alone: a broker that lives for minutes starts at half the cost, and formatting is only a start.
const jvm = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];

/** A Kafka of one node (KRaft) of one's own. */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaServer> {
  return start(
    {
      name: 'Kafka',
      variable: 'TEST_KAFKA_BROKERS',
      needs: ['java', 'mvn'],
      image,
      inContainer: () => inContainer(options),
      asProgram: (env) => asProgram(options, env),
    },
    options,
  );
}

interface Listeners {
  readonly clients: number;
  readonly internal: number;
  readonly controller: number;
  readonly advertised: string;
}

async function chooseListeners({ advertise }: KafkaOptions): Promise<Listeners> {
  const ports = new Set<number>();
  while (ports.size < 3) ports.add(await freePort());
  const [clients, internal, controller] = [...ports] as [number, number, number];
  const address = `127.0.0.1:${clients}`;
  return { clients, internal, controller, advertised: (await advertise?.(address)) ?? address };
}

function propertiesFor(options: KafkaOptions, listeners: Listeners, data: string, host: string): string {
  const { clients, internal, controller, advertised } = listeners;
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'log.dirs': data,
    // Brokers and this package's own question speak on INTERNAL in the clear, whatever clients must do.
    listeners: `CLIENTS://${host}:${clients},INTERNAL://${host}:${internal},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `CLIENTS://${advertised},INTERNAL://127.0.0.1:${internal}`,
    'listener.security.protocol.map': `CLIENTS:${options.protocol ?? 'PLAINTEXT'},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'inter.broker.listener.name': 'INTERNAL',
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controller}`,
    'auto.create.topics.enable': 'false',
    // Nobody else will join a test's group.
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'log.segment.bytes': String(16 * 1024 * 1024),
    'log.index.size.max.bytes': String(64 * 1024),
    'log.cleaner.dedupe.buffer.size': String(8 * 1024 * 1024),
    'num.network.threads': '2',
    'num.io.threads': '2',
    'num.recovery.threads.per.data.dir': '1',
    'background.threads': '2',
    // How long a broker that was killed counts as alive, so that its successor is turned away.
    'broker.session.timeout.ms': '4000',
    'broker.heartbeat.interval.ms': '500',
    ...options.properties,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`)
    .join('');
}

function formatArguments(options: KafkaOptions, properties: string): string[] {
  const id = randomBytes(16).toString('base64url');
  const scram = (options.scram ?? []).flatMap(({ mechanism, username, password }) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ]);
  // An id that begins with a dash would be taken for an option.
  return ['format', '--standalone', `--cluster-id=${id}`, '--config', properties, ...scram];
}

async function asProgram(options: KafkaOptions, env: Environment): Promise<Omit<KafkaServer, 'how'>> {
  const { java, jars } = await kafkaProgram(env);
  const directory = await makeDirectory('kafka');
  try {
    const listeners = await chooseListeners(options);
    const properties = join(directory, 'server.properties');
    await mkdir(join(directory, 'data'));
    await writeFile(properties, propertiesFor(options, listeners, join(directory, 'data'), '127.0.0.1'));
    const classpath = ['-cp', join(jars, '*')];
    const format = [
      '-Xmx128m',
      ...jvm,
      ...classpath,
      'kafka.tools.StorageTool',
      ...formatArguments(options, properties),
    ];
    await promisify(execFile)(java, format, { cwd: directory });
    const args = ['-Xms128m', '-Xmx384m', ...jvm, ...classpath, 'kafka.Kafka', properties];
    return await serve(listeners, processRunner({ directory, command: java, args }));
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function inContainer(options: KafkaOptions): Promise<Omit<KafkaServer, 'how'>> {
  const listeners = await chooseListeners(options);
  const properties = '/tmp/server.properties';
  const format = ['/opt/kafka/bin/kafka-storage.sh', ...formatArguments(options, properties), '--ignore-formatted'];
  const script = `${format.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')} >/dev/null && exec /opt/kafka/bin/kafka-server-start.sh ${properties}`;
  const runner = containerRunner({
    image,
    ports: [listeners.clients, listeners.internal],
    entrypoint: ['sh', '-c', script],
    env: { KAFKA_HEAP_OPTS: '-Xms128m -Xmx384m' },
    files: [{ path: properties, content: propertiesFor(options, listeners, '/tmp/kafka-data', '0.0.0.0') }],
  });
  return serve(listeners, runner);
}

async function serve(listeners: Listeners, runner: Parameters<typeof ownServer>[1]): Promise<Omit<KafkaServer, 'how'>> {
  const server = await ownServer('Kafka', runner, () => answersMetadata(listeners.internal));
  return Object.assign(server, { brokers: [listeners.advertised] });
}
