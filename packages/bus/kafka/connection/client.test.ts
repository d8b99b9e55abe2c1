import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kafkaFrom, KafkaVariables } from '../variables.ts';
import { connect } from './client.ts';
import { explain } from './explain.ts';

let silent: Server;
let address: string;

beforeAll(async () => {
  // Accepts connections and ends them, like a broker with TLS does to a client without.
  silent = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  address = `127.0.0.1:${(silent.address() as { port: number }).port}`;
});
afterAll(() => {
  silent.close();
});

function logOf(lines: [level: string, message: string][]) {
  const writer = (level: string) => (_: object, message: string) => void lines.push([level, message]);
  return { info: writer('info'), warn: writer('warn'), error: writer('error') };
}

describe('the Kafka client', () => {
  it('reports absent brokers as unavailable, logs each message once and none as an error, and gives up in bounded time', async () => {
    const kafka = kafkaFrom(KafkaVariables.parse({ KAFKA_BROKERS: address }))!;
    const lines: [string, string][] = [];
    const admin = connect(kafka, { name: 'test', log: logOf(lines) }).admin({
      retry: { retries: 3, initialRetryTime: 10 },
    });
    const error = await admin.connect().catch((thrown: unknown) => thrown);
    await admin.disconnect();
    expect(explain(error, kafka)).toMatchObject({
      kind: 'unavailable',
      message: 'Kafka does not answer. Try again shortly.',
    });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter(([level]) => level === 'error')).toEqual([]);
    expect(new Set(lines.map(([, message]) => message)).size).toBe(lines.length);
  });

  it('logs no advice for programmers', () => {
    const lines: [string, string][] = [];
    const client = connect(kafkaFrom(KafkaVariables.parse({ KAFKA_BROKERS: address }))!, {
      name: 'test',
      log: logOf(lines),
    });
    client.producer({ idempotent: true, retry: { retries: 2 } });
    expect(lines).toEqual([]);
  });
});
