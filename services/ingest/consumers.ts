import { type Bus, route, type SubscriptionOptions } from '@call-analysis/bus';
import {
  CallAnalyzed,
  CallErased,
  CallFailed,
  CallsAccepted,
  RetryRequested,
  TranscriptionProgressed,
  TranscriptReady,
} from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import { retryFailed } from './calls/retry-failed.ts';
import { ERASURES, finishErasures } from './erasure/finish-erasure.ts';
import { announceCalls } from './intake/announce-calls.ts';
import { giveUpAnnouncing, giveUpResult, giveUpTranscript } from './results/give-up.ts';
import { projectAnalyses, projectFailures } from './results/project-results.ts';
import { projectProgress, projectTranscripts } from './results/project-transcripts.ts';
import type { Store } from './store/index.ts';

/** The events that this service consumes. Consumer names are stored in the queues and must not change. */
export function consumers(parts: { store: Store; bus: Bus; objects: Objects }, retries = 10): SubscriptionOptions[] {
  return [
    {
      consumer: 'ingest.announce',
      batchSize: 1,
      concurrency: 1,
      retries,
      routes: [
        route({
          event: CallsAccepted,
          handle: async (events) => {
            for (const event of events) await announceCalls(parts, event);
          },
          giveUp: (event, reason) => giveUpAnnouncing(parts.store, event, reason),
        }),
      ],
    },
    {
      consumer: 'ingest.hearing',
      batchSize: 100,
      concurrency: 1,
      retries,
      routes: [
        // No giveUp: progress that is lost does not matter once the transcript is stored.
        route({
          event: TranscriptionProgressed,
          handle: (events) => projectProgress(parts.store, events),
        }),
        route({
          event: TranscriptReady,
          // This service publishes the ready events of uploaded transcripts itself.
          from: 'transcription',
          handle: (events) => projectTranscripts(parts, events),
          giveUp: (event, reason) => giveUpTranscript(parts.store, event, reason),
        }),
      ],
    },
    {
      consumer: 'ingest.catalogue',
      batchSize: 200,
      concurrency: 2,
      retries,
      routes: [
        route({
          event: CallAnalyzed,
          handle: (events) => projectAnalyses(parts.store, events),
          giveUp: (event, reason) => giveUpResult(parts.store, event, reason),
        }),
        route({
          event: CallFailed,
          handle: (events) => projectFailures(parts.store, events),
          giveUp: (event, reason) => giveUpResult(parts.store, event, reason),
        }),
      ],
    },
    {
      consumer: 'ingest.retries',
      batchSize: 1,
      concurrency: 1,
      retries,
      routes: [
        route({
          event: RetryRequested,
          handle: async (events) => {
            for (const event of events) await retryFailed(parts, event);
          },
        }),
      ],
    },
    {
      consumer: ERASURES,
      batchSize: 1,
      concurrency: 2,
      retries,
      routes: [
        route({
          event: CallErased,
          handle: async (events) => {
            for (const event of events) await finishErasures(parts, event);
          },
          // Erasure is never given up: giveUp is called until it returns.
          giveUp: (event) => finishErasures(parts, event),
        }),
      ],
    },
  ];
}
