import { type Event, type EventType, eventType } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { z } from 'zod';
import type { BusConfig, BusOptions, Log } from '../config.ts';
import { openBus } from '../open.ts';
import type { Bus, ConsumerDepth } from '../port.ts';
import type { Body } from '../test/new-event.ts';

export interface TransportUnderTest {
  readonly config: BusConfig;
  /** Whether a new consumer also gets events that were published before its first subscription. */
  readonly keepsHistory: boolean;
  /** A transaction of a service that publishes. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Waits until every published event is in the inboxes of all consumers with an open bus. */
  arrived(): Promise<void>;
  close(): Promise<void>;
}

type Options = Partial<BusOptions> & { readonly exclusive?: boolean };

/** The parts that the tests of a transport share. The transport and its bus exist once the tests have started. */
export interface Fixture {
  readonly transport: TransportUnderTest;
  readonly bus: Bus;
  /** An event type and a consumer's name that no other test uses. */
  newConsumer(): { Happened: EventType<Body>; consumer: string };
  /** Opens another bus until the end of the test. */
  openAnother(options?: Options): Promise<Bus>;
  /** Opens another bus until the end of all tests. */
  openLasting(options?: Options): Promise<Bus>;
  publish(...events: Event[]): Promise<void>;
  depth(consumer: string): Promise<ConsumerDepth | undefined>;
  /** Waits until the bus is ready. */
  connected(bus: Bus): Promise<boolean>;
  /** Waits until every published event is in the inboxes, also in those of the given bus. */
  arrived(bus?: Bus): Promise<void>;
  /** Waits until the consumer has no waiting and no active events. */
  emptied(consumer: string): Promise<boolean>;
  /** `arrived`, then `emptied`. */
  drained(consumer: string): Promise<boolean>;
}

interface ManagedFixture extends Fixture {
  open(): Promise<void>;
  endTest(): Promise<void>;
  close(): Promise<void>;
}

const silent: Log = { info() {}, warn() {}, error() {} };

/** No lease lapses during a test, however long the machine pauses, unless the test asks for a shorter one. */
const LEASE_SECONDS = 3_600;

export function createFixture(openTransport: () => Promise<TransportUnderTest>): ManagedFixture {
  let transport: TransportUnderTest;
  let bus: Bus;
  const ofTest: Bus[] = [];
  const lasting: Bus[] = [];
  let count = 0;

  async function open(list: Bus[], { exclusive = false, ...options }: Options): Promise<Bus> {
    const opened = await openBus(
      { ...transport.config, exclusive },
      { name: 'test', log: silent, leaseSeconds: LEASE_SECONDS, ...options },
    );
    list.push(opened);
    return opened;
  }

  const fixture: ManagedFixture = {
    get transport() {
      return transport;
    },
    get bus() {
      return bus;
    },
    newConsumer() {
      count += 1;
      return {
        Happened: eventType(`test.happened-${count}.v1`, z.object({ n: z.int(), text: z.string().optional() })),
        consumer: `test.consumer-${count}`,
      };
    },
    openAnother: (options = {}) => open(ofTest, options),
    openLasting: (options = {}) => open(lasting, options),
    publish: (...events) => transport.transaction((tx) => bus.publish(tx, events)),
    depth: async (consumer) => (await bus.depths()).find((each) => each.consumer === consumer),
    connected: (one) => waitUntil(() => one.ready().then(() => true)),
    async arrived(one = bus) {
      await fixture.connected(one);
      await transport.arrived();
    },
    emptied: (consumer) =>
      waitUntil(async () => {
        const found = await fixture.depth(consumer);
        return found !== undefined && found.waiting === 0 && found.active === 0;
      }),
    drained: (consumer) => fixture.arrived().then(() => fixture.emptied(consumer)),
    async open() {
      transport = await openTransport();
      bus = await fixture.openLasting();
    },
    async endTest() {
      await Promise.all(ofTest.splice(0).map((each) => each.close()));
    },
    async close() {
      await Promise.all(lasting.map((each) => each.close()));
      // A closed bus may still be ending connections. One that fails because its database is dropped ends the process.
      const connections = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'test bus'`;
      await waitUntil(async () => (await transport.transaction((tx) => tx.query(connections))).length === 0);
      await transport?.close();
    },
  };
  return fixture;
}
