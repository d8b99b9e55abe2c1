import { randomUUID } from 'node:crypto';
import {
  type BodyOf,
  CallAnalyzed,
  CallFailed,
  createEvent,
  type Event,
  type EventType,
  TranscriptReady,
} from '@call-analysis/events';
import { v7 as uuidv7 } from 'uuid';
import type { Owner } from '../intake/upload-store.ts';

export interface Call {
  readonly owner: Owner;
  readonly uuid: string;
}

/** An event about a call as another service publishes it. This service does not consume its own transcripts. */
export function eventOf<Body>(type: EventType<Body>, { owner, uuid }: Call, data: Body): Event<Body> {
  return { ...createEvent('transcription', type, uuid, { firmuuid: owner.firmUuid, priority: 0 }, data) };
}

export const analysis: NonNullable<BodyOf<typeof CallAnalyzed>['analysis']> = {
  scorecard: { uuid: randomUUID(), name: 'Scorecard', revision: 1 },
  analyst: { name: 'rules', version: '1', model: null },
  score: 87.5,
  auto_failed: false,
  auto_fail_suspected: false,
  sections: [],
  summary: 'A call.',
  reason: null,
  resolution: null,
  topics: [],
  sentiment: { operator: 0, client: 0, start: { operator: 0, client: -0.5 }, end: { operator: 0, client: 0.5 } },
  sentiment_unknown: [],
  manipulation: null,
  metrics: {
    talk_ratio: { operator: 0.5, client: 0.5, silence: null },
    interruptions: null,
    longest_monologue: { operator: 1, client: 1 },
    words: { operator: 1, client: 1 },
    questions_asked: 0,
  },
  usage: null,
  created_at: '2026-01-02T03:04:05.000Z',
};

/** A question of an analysis, answered by phrases and for review. */
export const question = {
  uuid: '00000000-0000-7000-8000-000000000001',
  text: 'Did the operator greet the client?',
  weight: 1,
  answer: 'no',
  decided_by: 'rule' as const,
  confidence: 0.8,
  points: 0,
  max_points: 1,
  not_applicable: false,
  evidence: [],
  evidence_absent: true,
  needs_review: true,
  explanation: 'By phrases.',
};

export function callAnalyzed(call: Call, change: Partial<BodyOf<typeof CallAnalyzed>> = {}) {
  const body = { analysis_uuid: uuidv7(), outcome: 'scored' as const, language: 'en' as const, analysis };
  return eventOf(CallAnalyzed, call, { attempt: 1, ...body, ...change });
}

/** The analysis of a call in which no one spoke. */
export const noSpeech = { outcome: 'no_speech' as const, language: null, analysis: null };

export const failure = {
  stage: 'analysis' as const,
  code: 'TOO_HARD',
  message: 'It was too hard.',
  retryable: true,
  attempts: 6,
};

export function callFailed(call: Call, change: Partial<BodyOf<typeof CallFailed>> = {}) {
  return eventOf(CallFailed, call, { attempt: 1, ...failure, ...change });
}

type Transcribed = BodyOf<typeof TranscriptReady>;

/** The recording of a call has been transcribed. */
export function transcriptReady(call: Call, change: Partial<Transcribed> = {}) {
  return eventOf<Transcribed>(TranscriptReady, call, {
    attempt: 1,
    source: 'audio',
    duration: 60,
    language: 'en',
    tags: [],
    segment_type: 'support',
    transcript: { utterances: [{ role: 'client', text: 'Hi', start: 0, end: 1 }] },
    ...change,
  });
}
