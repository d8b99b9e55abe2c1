import {
  AnalysisWaiting,
  CallAnalyzed,
  CallErased,
  CallFailed,
  CallsAccepted,
  RetryRequested,
  TranscriptionProgressed,
  TranscriptionWaiting,
  TranscriptReady,
} from '@call-analysis/events';
import { consume, type Consumer, type Registered } from '@call-analysis/service';
import { retryFailed } from './attempts/retry-failed.ts';
import { announceCalls, giveUpAnnouncing } from './batches/announce-calls.ts';
import type { Deps } from './deps.ts';
import { finishErasures } from './erasure/finish-erasure.ts';
import {
  giveUpResult,
  giveUpTranscript,
  projectAnalyses,
  projectFailures,
  projectWaiting,
} from './results/project-results.ts';
import { projectProgress, projectTranscripts } from './results/project-transcripts.ts';

const RETRIES = 10;

type Registration = Deps & Registered;

export const consumers: readonly Consumer<Deps>[] = [
  {
    consumer: 'ingest.announce',
    retries: RETRIES,
    routes: [
      consume(CallsAccepted, {
        each: announceCalls,
        giveUp: giveUpAnnouncing,
      }),
    ],
  },
  {
    consumer: 'ingest.hearing',
    batchSize: 100,
    retries: RETRIES,
    routes: [
      // A lost progress report does not matter once the transcript is there.
      consume(TranscriptionProgressed, { handle: projectProgress }),
      consume(TranscriptReady, {
        // Uploaded transcripts are published by this service itself.
        from: 'transcription',
        handle: projectTranscripts,
        giveUp: (deps: Registration, event, reason) => giveUpTranscript(deps, event, reason),
      }),
    ],
  },
  {
    consumer: 'ingest.catalogue',
    batchSize: 200,
    concurrency: 2,
    retries: RETRIES,
    routes: [
      consume(CallAnalyzed, {
        handle: projectAnalyses,
        giveUp: giveUpResult,
      }),
      consume(CallFailed, {
        handle: projectFailures,
        giveUp: giveUpResult,
      }),
    ],
  },
  {
    consumer: 'ingest.waiting',
    batchSize: 200,
    retries: RETRIES,
    // A lost note does not matter once the transcript or the analysis is there.
    routes: [
      consume(TranscriptionWaiting, {
        handle: (deps: Registration, events) => projectWaiting(deps, 'transcription', events),
      }),
      consume(AnalysisWaiting, { handle: (deps: Registration, events) => projectWaiting(deps, 'analysis', events) }),
    ],
  },
  {
    consumer: 'ingest.retries',
    retries: RETRIES,
    routes: [consume(RetryRequested, { each: retryFailed })],
  },
  {
    consumer: 'ingest.erasures',
    concurrency: 2,
    retries: RETRIES,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [consume(CallErased, { each: finishErasures, giveUp: finishErasures })],
  },
];
