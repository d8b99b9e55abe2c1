import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonWith } from './python.ts';

const packages = ['confluent-kafka==2.16.1', 'cloudevents==2.2.0'];
const program = fileURLToPath(new URL('./other-client.py', import.meta.url));

/** A CloudEvent as another client sees it. */
export interface CloudEvent {
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** A client of Kafka and CloudEvents based on Python's libraries, independent of this code. */
export interface OtherClient {
  /** The first events of the topic. */
  read(brokers: readonly string[], topic: string, count: number): Promise<CloudEvent[]>;
  write(brokers: readonly string[], topic: string, events: readonly CloudEvent[]): Promise<void>;
}

export async function openOtherClient(): Promise<OtherClient> {
  const python = await pythonWith(packages);
  const run = async (args: readonly string[], input = ''): Promise<string> => {
    const running = promisify(execFile)(python, [program, ...args], { maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  return {
    async read(brokers, topic, count) {
      const lines = (await run(['read', brokers.join(','), topic, String(count)])).trim().split('\n');
      return lines.map((line) => JSON.parse(line) as CloudEvent);
    },
    async write(brokers, topic, events) {
      await run(['write', brokers.join(','), topic], events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    },
  };
}
