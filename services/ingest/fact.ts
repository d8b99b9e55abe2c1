import type { Event, EventType } from '@call-analysis/events';
import { v7 as uuidv7 } from 'uuid';

/** On whose behalf and how urgently something is told. */
export interface About {
  readonly firmuuid: string;
  readonly turn: number;
  readonly traceparent?: string | undefined;
}

/** A fact that this service tells, as of now. `subject` is the uuid of what it is about. */
export function fact<Body>(type: EventType<Body>, subject: string, about: About, data: Body): Event<Body> {
  return {
    id: uuidv7(),
    source: 'ingest',
    type: type.type,
    time: new Date().toISOString(),
    subject,
    firmuuid: about.firmuuid,
    turn: about.turn,
    traceparent: about.traceparent,
    data,
  };
}

/** When that happened what an event tells, by its teller's clock, or by ours where that one is ahead: never in the future. */
export function happenedAt(time: string): Date {
  return new Date(Math.min(Date.parse(time), Date.now()));
}
