import { randomUUID } from 'node:crypto';
import {
  type ChooseReplayAction,
  type DeadLetterFilter,
  type DeadLetters,
  type Kafka,
  kafkaFrom,
  KafkaVariables,
  type ListenConfig,
  openDeadLetters,
  REDELIVER,
  type ReplayAction,
} from '@call-analysis/bus';
import {
  AudioExtractionRequested,
  AudioStored,
  type BodyOf,
  CallAnalyzed,
  CallFailed,
  CallsAccepted,
  type Event,
  RetryRequested,
  TranscriptReady,
} from '@call-analysis/events';
import { createLog, type Environment, parseConfig, StartFault, withSecrets } from '@call-analysis/runtime';
import { z } from 'zod';
import { BUS } from '../bus.ts';

/** What the administrator's command can do with events that were given up (api.md, section 9). */
export interface DeadLetterAdmin {
  list(which: DeadLetterFilter, limit: number): Promise<object[]>;
  replay(which: DeadLetterFilter): Promise<{ replayed: number; retried: number }>;
}

/** Kafka, where the environment names it. */
export function kafkaOf(env: Environment): Kafka | undefined {
  return kafkaFrom(parseConfig(KafkaVariables, withSecrets(env, [KafkaVariables])));
}

/** Runs `work` on the dead letters in Kafka's topics. */
export function withKafkaDeadLetters<Result>(
  kafka: Kafka,
  work: (letters: DeadLetterAdmin) => Promise<Result>,
): Promise<Result> {
  return withOpenDeadLetters({ transport: 'kafka', kafka }, work);
}

/** Runs `work` on the dead letters in the queues that all services share. */
export function withLocalDeadLetters<Result>(
  url: string,
  work: (letters: DeadLetterAdmin) => Promise<Result>,
): Promise<Result> {
  return withOpenDeadLetters({ transport: 'embedded', url, schema: BUS }, work);
}

async function withOpenDeadLetters<Result>(
  config: ListenConfig,
  work: (letters: DeadLetterAdmin) => Promise<Result>,
): Promise<Result> {
  const office = await openDeadLetters(config, { name: 'admin', log: createLog({ name: 'admin', level: 'silent' }) });
  try {
    return await work(deadLetterAdmin(office));
  } finally {
    await office.close();
  }
}

function deadLetterAdmin(office: DeadLetters): DeadLetterAdmin {
  return {
    async list(which, limit) {
      return (await office.list(which, limit)).map(
        ({ id, type, consumer, subject, firmUuid, code, message, attempts, at }) => ({
          id,
          type,
          consumer,
          subject,
          firm_uuid: firmUuid,
          code,
          message,
          attempts,
          at: at.toISOString(),
        }),
      );
    },
    async replay(which) {
      const { replayed, published } = await office.replay(which, courseOf);
      if (which.ids !== undefined && replayed === 0) {
        throw new StartFault(
          'There is no dead letter of such an id that could be replayed. "dead-letter list" shows them.',
        );
      }
      return { replayed, retried: published };
    },
  };
}

/** Of these a call fails when they are given up, and what they would bring about comes too late for it. */
const ofCalls = new Set(
  [AudioExtractionRequested, AudioStored, TranscriptReady, CallAnalyzed, CallFailed].map(({ type }) => type),
);
/** Keeps what was heard, also for a call that has ended meanwhile. */
const KEEPS_TRANSCRIPTS = 'ingest.hearing';

const Attempt = z.object({ attempt: z.int().min(1) });

const courseOf: ChooseReplayAction = (event: Event, consumer: string): ReplayAction => {
  if (event.type === CallsAccepted.type) {
    const portion = CallsAccepted.body.safeParse(event.data);
    return portion.success ? { redeliver: false, publish: [retryOf(event, portion.data)] } : REDELIVER;
  }
  if (!ofCalls.has(event.type)) return REDELIVER;
  const known = Attempt.safeParse(event.data);
  const retry = retryOf(event, { attempt: known.success ? known.data.attempt : null });
  return { redeliver: consumer === KEEPS_TRANSCRIPTS, publish: [retry] };
};

function retryOf({ firmuuid, subject }: Event, data: BodyOf<typeof RetryRequested>): Event {
  return {
    id: randomUUID(),
    source: 'admin',
    type: RetryRequested.type,
    time: new Date().toISOString(),
    subject,
    firmuuid,
    priority: 0,
    data,
  };
}
