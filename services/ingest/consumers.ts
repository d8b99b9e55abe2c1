import type { FailureReason } from '@call-analysis/bus';
import {
  AnalysisWaiting,
  CallAnalyzed,
  CallErased,
  CallFailed,
  CallsAccepted,
  type Event,
  RetryRequested,
  TranscriptionProgressed,
  TranscriptionWaiting,
  TranscriptReady,
} from '@call-analysis/events';
import { consume, type Consumer, type Registered } from '@call-analysis/service';
import { retryFailed } from './attempts/retry-call.ts';
import { announceCalls, giveUpAnnouncing } from './batches/announce-calls.ts';
import type { Deps } from './deps.ts';
import { finishErasures } from './erasure/erase-call.ts';
import {
  failUnstored,
  projectAnalyses,
  projectFailures,
  projectProgress,
  projectTranscripts,
  projectWaiting,
} from './results/project-results.ts';

const RETRIES = 10;

type Registration = Deps & Registered;

const giveUpResult = (deps: Registration, event: Event, reason: FailureReason) =>
  failUnstored(deps, event, 'analysis', reason);

export const consumers: readonly Consumer<Deps>[] = [
  {
    consumer: 'ingest.announce',
    retries: RETRIES,
    routes: [consume(CallsAccepted, { each: announceCalls, giveUp: giveUpAnnouncing })],
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
        giveUp: (deps: Registration, event, reason) => failUnstored(deps, event, 'transcription', reason),
      }),
    ],
  },
  {
    consumer: 'ingest.catalogue',
    batchSize: 200,
    concurrency: 2,
    retries: RETRIES,
    routes: [
      consume(CallAnalyzed, { handle: projectAnalyses, giveUp: giveUpResult }),
      consume(CallFailed, { handle: projectFailures, giveUp: giveUpResult }),
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
