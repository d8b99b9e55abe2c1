import { randomUUID } from 'node:crypto';
import type { Event, EventType } from '@call-analysis/events';
import type { EachBatchPayload } from 'kafkajs';
import { readForListener } from '../../delivery/read-event.ts';
import { Poison, type Subscription } from '../../port.ts';
import { fromMessage, headerOf, REPLAY_TO } from '../message.ts';
import { listenerGroups } from '../rights/rights.ts';
import { joinGroup, type Membership, type MembershipOptions } from './membership.ts';

type OnEvent = (event: Event) => void;

/**
 * Every event type has its own consumer group in every process. The group starts with the next event and commits no offsets.
 * A group for all types would rebalance when a listener for a new type joins, and miss the events of that time.
 */
export function createKafkaListeners(
  options: Pick<MembershipOptions, 'client' | 'kafka' | 'topics' | 'log' | 'logBackgroundError'> & {
    readonly name: string;
  },
) {
  const groups = new Map<string, { readonly membership: Membership; readonly listeners: Set<OnEvent> }>();
  const process = randomUUID();

  async function callAll(
    type: EventType,
    listeners: Set<OnEvent>,
    { batch, resolveOffset }: EachBatchPayload,
  ): Promise<void> {
    for (const message of batch.messages) {
      if (headerOf(message, REPLAY_TO) === undefined) {
        for (const listener of listeners) call(type, message, listener);
      }
      resolveOffset(message.offset);
    }
  }

  function call(type: EventType, message: Parameters<typeof fromMessage>[0], listener: OnEvent): void {
    try {
      const event = readForListener(type, fromMessage(message));
      if (event !== null) listener(event);
    } catch (error) {
      if (!(error instanceof Poison)) options.log.error({ type: type.type, err: error }, 'A listener failed.');
    }
  }

  return {
    async listen(type: EventType, onEvent: OnEvent): Promise<Subscription> {
      let group = groups.get(type.type);
      if (group === undefined) {
        const listeners = new Set<OnEvent>();
        const membership = joinGroup({
          ...options,
          group: `${listenerGroups(options.name)}${process}.${type.type}`,
          types: [type.type],
          fromBeginning: false,
          commits: false,
          onBatch: (payload) => callAll(type, listeners, payload),
        });
        group = { membership, listeners };
        groups.set(type.type, group);
      }
      // A new function, so that each call adds a listener even when `onEvent` is the same.
      const listener: OnEvent = (event) => onEvent(event);
      const { listeners } = group;
      listeners.add(listener);
      return {
        async stop() {
          listeners.delete(listener);
        },
      };
    },
    /** Why some of them get no events now. */
    get fault(): Error | undefined {
      return [...groups.values()].map(({ membership }) => membership.fault).find((fault) => fault !== undefined);
    },
    async close(): Promise<void> {
      await Promise.all([...groups.values()].map(({ membership }) => membership.close()));
    },
  };
}
