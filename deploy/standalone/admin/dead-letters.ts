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

export type DeadLetterAdmin = ReturnType<typeof deadLetterAdmin>;

/** The Kafka settings, if the environment has them. */
export function kafkaOf(env: Environment): Kafka | undefined {
  return kafkaFrom(parseConfig(KafkaVariables, withSecrets(env, [KafkaVariables])));
}

/** Runs `work` on the dead letters in Kafka's topics, or in the queues that all services share. */
export async function withOpenDeadLetters<Result>(
  config: ListenConfig,
  work: (deadLetters: DeadLetterAdmin) => Promise<Result>,
): Promise<Result> {
  const opened = await openDeadLetters(config, { name: 'admin', log: createLog({ name: 'admin', level: 'silent' }) });
  try {
    return await work(deadLetterAdmin(opened));
  } finally {
    await opened.close();
  }
}

/** The admin command's actions on dead letters (docs/api.md, "Configuration and commands"). */
function deadLetterAdmin(deadLetters: DeadLetters) {
  return {
    async list(filter: DeadLetterFilter, limit: number) {
      const found = await deadLetters.list(filter, limit);
      return found.map(({ id, type, consumer, subject, firmUuid, ...failure }) => ({
        id,
        type,
        consumer,
        subject,
        firm_uuid: firmUuid,
        ...failure,
      }));
    },
    async replay(filter: DeadLetterFilter) {
      const { replayed, published } = await deadLetters.replay(filter, chooseReplayAction);
      if (filter.ids !== undefined && replayed === 0) {
        throw new StartFault(
          'There is no dead letter with such an id to replay. "dead-letter list" lists the dead letters.',
        );
      }
      return { replayed, retried: published };
    },
  };
}

/** A call fails when one of these becomes a dead letter. Delivering it again would be too late: the call is retried. */
const failsItsCall = new Set(
  [AudioExtractionRequested, AudioStored, TranscriptReady, CallAnalyzed, CallFailed].map(({ type }) => type),
);
/** Stores transcripts, also for calls that have ended. */
const KEEPS_TRANSCRIPTS = 'ingest.hearing';

const Attempt = z.object({ attempt: z.int().min(1) });

const chooseReplayAction: ChooseReplayAction = (event: Event, consumer: string): ReplayAction => {
  if (event.type === CallsAccepted.type) {
    const accepted = CallsAccepted.body.safeParse(event.data);
    return accepted.success ? { redeliver: false, publish: [retryOf(event, accepted.data)] } : REDELIVER;
  }
  if (!failsItsCall.has(event.type)) return REDELIVER;
  const parsed = Attempt.safeParse(event.data);
  const retry = retryOf(event, { attempt: parsed.success ? parsed.data.attempt : null });
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
