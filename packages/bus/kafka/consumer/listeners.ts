import { randomUUID } from 'node:crypto';
import type { Event, EventType } from '@call-analysis/events';
import type { EachBatchPayload } from 'kafkajs';
import { readHeard } from '../../embedded/listeners.ts';
import { Poison, type Subscription } from '../../port.ts';
import { join, type Membership, type MembershipOptions } from './membership.ts';
import { fromMessage, headerOf, REPLAY_TO } from '../message.ts';

export interface KafkaListeners {
  listen(type: EventType, hear: (event: Event) => void): Promise<Subscription>;
  /** Why some of them hear nothing now. */
  readonly fault: Error | undefined;
  close(): Promise<void>;
}

type Hear = (event: Event) => void;

/**
 * Every type has a group of its own in every process, which begins with the next fact and keeps no offsets: so one that
 * joins later does not make the others miss what is told meanwhile.
 */
export function createKafkaListeners(
  options: Pick<MembershipOptions, 'client' | 'kafka' | 'topics' | 'log' | 'complain'> & { readonly name: string },
): KafkaListeners {
  const heard = new Map<string, { readonly membership: Membership; readonly hearers: Set<Hear> }>();
  const process = randomUUID();

  async function take(type: EventType, hearers: Set<Hear>, { batch, resolveOffset }: EachBatchPayload): Promise<void> {
    for (const message of batch.messages) {
      if (headerOf(message, REPLAY_TO) === undefined) {
        for (const hear of hearers) spread(type, message, hear);
      }
      resolveOffset(message.offset);
    }
  }

  function spread(type: EventType, message: Parameters<typeof fromMessage>[0], hear: Hear): void {
    try {
      const event = readHeard(type, fromMessage(message));
      if (event !== null) hear(event);
    } catch (error) {
      if (!(error instanceof Poison)) options.log.error({ type: type.type, err: error }, 'A listener failed.');
    }
  }

  return {
    async listen(type, hear) {
      let group = heard.get(type.type);
      if (group === undefined) {
        const hearers = new Set<Hear>();
        const membership = join({
          ...options,
          group: `${options.name}.listener.${process}.${type.type}`,
          types: [type.type],
          fromBeginning: false,
          commits: false,
          take: (read) => take(type, hearers, read),
        });
        group = { membership, hearers };
        heard.set(type.type, group);
      }
      // Each call is one listener, although it brings the same function.
      const hearer: Hear = (event) => hear(event);
      const { hearers } = group;
      hearers.add(hearer);
      return {
        async stop() {
          hearers.delete(hearer);
        },
      };
    },
    get fault() {
      return [...heard.values()].map(({ membership }) => membership.fault).find((fault) => fault !== undefined);
    },
    async close() {
      await Promise.all([...heard.values()].map(({ membership }) => membership.close()));
    },
  };
}
