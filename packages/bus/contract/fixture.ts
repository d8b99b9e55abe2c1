import { type Event, type EventType, eventType } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { z } from 'zod';
import { type BusConfig, openBus } from '../open.ts';
import type { BusOptions } from '../config.ts';
import type { Bus, ConsumerDepth } from '../port.ts';
import type { Log } from '../queue/queues.ts';
import type { Body } from '../test/events.ts';

/** Where a transport under test meets. */
export interface BusPlace {
  readonly config: BusConfig;
  /** Whether a new consumer also gets what was told before it came. */
  readonly remembers: boolean;
  /** A transaction of a service that publishes there. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Waits until what was published lies in the inboxes of all consumers that some bus reads for. */
  arrived(): Promise<void>;
  close(): Promise<void>;
}

type Options = Partial<BusOptions> & { readonly exclusive?: boolean };

/** What every promise is tried on. Its place and its bus are there once the tests have begun. */
export interface Stage {
  readonly place: BusPlace;
  readonly bus: Bus;
  /** An event and a consumer that no other test knows. */
  newcomers(): { Happened: EventType<Body>; consumer: string };
  /** A bus beside the one of the stage, until the test is over. */
  another(options?: Options): Promise<Bus>;
  /** The same for as long as the stage is there. */
  lasting(options?: Options): Promise<Bus>;
  publish(...events: Event[]): Promise<void>;
  depth(consumer: string): Promise<ConsumerDepth | undefined>;
  /** Waits until facts travel to and from it. */
  connected(one: Bus): Promise<boolean>;
  /** Waits until what was published lies in the inboxes, the given bus's too. */
  arrived(one?: Bus): Promise<void>;
  /** Waits until nothing waits and nothing is in hand. */
  emptied(consumer: string): Promise<boolean>;
  drained(consumer: string): Promise<boolean>;
}

export interface ManagedStage extends Stage {
  open(): Promise<void>;
  endTest(): Promise<void>;
  close(): Promise<void>;
}

const silent: Log = { info() {}, warn() {}, error() {} };

export function stageAt(openPlace: () => Promise<BusPlace>): ManagedStage {
  let place: BusPlace;
  let bus: Bus;
  const ofTest: Bus[] = [];
  const lasting: Bus[] = [];
  let count = 0;

  async function openOne(into: Bus[], { exclusive = false, ...options }: Options): Promise<Bus> {
    const one = await openBus({ ...place.config, exclusive }, { name: 'test', log: silent, ...options });
    into.push(one);
    return one;
  }

  const stage: ManagedStage = {
    get place() {
      return place;
    },
    get bus() {
      return bus;
    },
    newcomers() {
      count += 1;
      return {
        Happened: eventType(`test.happened-${count}.v1`, z.object({ n: z.int(), text: z.string().optional() })),
        consumer: `test.consumer-${count}`,
      };
    },
    another: (options = {}) => openOne(ofTest, options),
    lasting: (options = {}) => openOne(lasting, options),
    publish: (...events) => place.transaction((tx) => bus.publish(tx, events)),
    depth: async (consumer) => (await bus.depths()).find((each) => each.consumer === consumer),
    connected: (one) => waitUntil(() => one.ready().then(() => true)),
    async arrived(one = bus) {
      await stage.connected(one);
      await place.arrived();
    },
    emptied: (consumer) =>
      waitUntil(async () => {
        const found = await stage.depth(consumer);
        return found !== undefined && found.waiting === 0 && found.active === 0;
      }),
    drained: (consumer) => stage.arrived().then(() => stage.emptied(consumer)),
    async open() {
      place = await openPlace();
      bus = await stage.lasting();
    },
    async endTest() {
      await Promise.all(ofTest.splice(0).map((each) => each.close()));
    },
    async close() {
      await Promise.all(lasting.map((each) => each.close()));
      // Closing does not wait for long, and a connection that the end of its database meets as it closes ends the process.
      const connections = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'test bus'`;
      await waitUntil(async () => (await place.transaction((tx) => tx.query(connections))).length === 0);
      await place?.close();
    },
  };
  return stage;
}
