import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createEvent, eventType } from '@call-analysis/events';
import { createLog, timeLeft } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { DatabaseConfig } from './config.ts';
import { consume } from './consumers.ts';
import { defineService, type Host, type ServiceDefinition } from './define-service.ts';

const Greeted = eventType('test.greeted.v1', z.object({ name: z.string() }));

interface Deps {
  readonly host: Host<DatabaseConfig>;
  readonly steps: string[];
}

type Definition = ServiceDefinition<DatabaseConfig, Deps, { greeting: string }>;

let database: TestDatabase;
let steps: string[];
let lines: string[];

beforeEach(async () => {
  database = await freshDatabase();
  steps = [];
  lines = [];
});
afterEach(async () => {
  await database.drop();
});

function service(own: Partial<Definition> = {}) {
  return defineService<DatabaseConfig, Deps, { greeting: string }>({
    name: 'ingest',
    migrations: new URL('./test/migrations', import.meta.url),
    publishes: [Greeted],
    consumers: [
      {
        consumer: 'test.greeter',
        routes: [consume(Greeted, { each: async ({ steps }, { data }) => void steps.push(`greeted ${data.name}`) })],
      },
    ],
    open(host) {
      host.closing.add('own part', () => void steps.push('own part closed'));
      return { host, steps };
    },
    ...own,
  });
}

function config(): DatabaseConfig {
  return {
    databaseUrl: database.url('ingest'),
    bus: { transport: 'embedded', url: database.url('bus'), schema: 'bus', exclusive: true },
  };
}

const log = () => createLog({ name: 'test', destination: { write: (line) => void lines.push(line) } });

async function started(own: Partial<Definition> = {}, closeMs = 10_000) {
  let opened: Deps | undefined;
  const defined = service({
    ...own,
    async open(host, replacements) {
      opened = await (own.open ?? open)(host, replacements);
      return opened;
    },
  });
  await defined.prepare(config(), { log: log() });
  const running = await defined.start(config(), { log: log(), left: timeLeft(closeMs) });
  return { ...running, deps: opened! };
}

const open: Definition['open'] = (host) => {
  host.closing.add('own part', () => void steps.push('own part closed'));
  return { host, steps };
};

async function publish({ host }: Deps, name: string): Promise<void> {
  const origin = { firmuuid: randomUUID(), priority: 0, traceparent: undefined };
  const event = createEvent('ingest', Greeted, randomUUID(), origin, { name });
  await host.db.transaction((tx) => host.bus.publish(tx, [event]));
}

describe('a service', () => {
  it('names the events that its consumers and listeners take, each once, and its consumers', () => {
    const listeners = [{ event: Greeted, receive: () => {} }];
    const own = { publishes: [Greeted], consumes: [Greeted], consumers: ['test.greeter'] };
    expect(service({ listeners }).events).toEqual({ ...own, listens: true });
    expect(service().events).toEqual({ ...own, listens: false });
  });

  it('does not start on a database that was not migrated, and explains how to migrate it', async () => {
    await expect(service().start(config(), { log: log() })).rejects.toThrow('npm run service -- ingest migrate');
  });

  it('hands events to its consumers, and closes its own dependencies after the handlers have ended', async () => {
    const running = await started({
      open,
      consumers: [
        {
          consumer: 'test.greeter',
          routes: [
            consume(Greeted, {
              async handle({ steps }) {
                steps.push('handler began');
                await pause(300);
                steps.push('handler ended');
              },
            }),
          ],
        },
      ],
    });
    await publish(running.deps, 'Ann');
    await waitUntil(() => steps.includes('handler began'));
    await running.close();
    expect(steps).toEqual(['handler began', 'handler ended', 'own part closed']);
  });

  it('interrupts handlers when the time for closing is over', async () => {
    const running = await started(
      {
        open,
        consumers: [
          {
            consumer: 'test.greeter',
            routes: [
              consume(Greeted, {
                async each({ host, steps }) {
                  steps.push('handler began');
                  await pause(60_000, undefined, { signal: host.interrupted }).catch(() => steps.push('interrupted'));
                },
              }),
            ],
          },
        ],
      },
      100,
    );
    await publish(running.deps, 'Ann');
    await waitUntil(() => steps.includes('handler began'));
    await running.close();
    expect(steps).toEqual(['handler began', 'interrupted', 'own part closed']);
  });

  it('closes what it has opened when its own dependencies cannot be opened', async () => {
    const defined = service({
      open({ closing }) {
        closing.add('own part', () => void steps.push('own part closed'));
        throw new Error('the model is missing');
      },
    });
    await defined.prepare(config(), { log: log() });
    await expect(defined.start(config(), { log: log() })).rejects.toThrow('the model is missing');
    expect(steps).toEqual(['own part closed']);
  });

  it('gives a test its replacements', async () => {
    const seen: (string | undefined)[] = [];
    const defined = service({
      open(host, { greeting }) {
        seen.push(greeting);
        return { host, steps };
      },
    });
    await defined.prepare(config(), { log: log() });
    const running = await defined.start(config(), { log: log(), greeting: 'hello' });
    await running.close();
    expect(seen).toEqual(['hello']);
  });
});

describe('a schedule', () => {
  it('never runs twice at the same time, continues after a failure, and ends before the service has closed', async () => {
    let [running, most, runs] = [0, 0, 0];
    const schedule = {
      name: 'sweep',
      everyMs: 10,
      async run() {
        runs += 1;
        running += 1;
        most = Math.max(most, running);
        await pause(50);
        running -= 1;
        if (runs === 1) throw new Error('the store is away');
      },
    };
    const { close } = await started({ open, schedules: () => [schedule] });
    await waitUntil(() => runs >= 3);
    await close();
    const after = runs;
    await pause(50);
    expect([running, most, runs]).toEqual([0, 1, after]);
    expect(lines.filter((line) => line.includes('sweep failed'))).toHaveLength(1);
  });
});
